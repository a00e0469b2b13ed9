/**
 * `npm run package -- [folder]`: a folder that runs the service on any machine with Node. It holds
 * what `src` is built to, and the packages that it needs to run, as the lockfile names them.
 */
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { commitIn } from '../src/cli/version.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const program = 'dist/cli/main.js'
const content = new Set(['LICENSE', 'dist', 'node_modules', 'package.json'])

/** What users and Node itself read in the package file: nothing that builds or tests. */
const kept = ['name', 'version', 'description', 'license', 'type', 'bin', 'exports', 'engines']

function makePackage(folder: string): void {
  empty(folder)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const built = ['-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')]
  execFileSync(process.execPath, [compiler, ...built], { stdio: 'inherit' })
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'LICENSE']) {
    copyFileSync(join(root, name), join(folder, name))
  }
  // No script of a package is needed to run us, and ours would build.
  const flags = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--loglevel=error']
  execFileSync('npm', ['ci', ...flags], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  for (const name of ['package-lock.json', '.npmrc']) rmSync(join(folder, name))
  writePackageFile(folder)
}

/**
 * Replaces an earlier package, and nothing else: no checkout, no package of another name, and
 * nothing that was put beside it.
 */
function empty(folder: string): void {
  const found = existsSync(folder) ? readdirSync(folder) : []
  const others = found.filter((name) => !content.has(name))
  if (others.length > 0) {
    throw new Error(`${folder} holds something else (${others.join(', ')}): move that away`)
  }
  if (found.includes('package.json') && packageIn(folder)['name'] !== packageIn(root)['name']) {
    throw new Error(`${folder} holds another package: move that away`)
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
}

function packageIn(folder: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

function writePackageFile(folder: string): void {
  const whole = packageIn(folder)
  const fields = [...kept, 'dependencies'].map((name) => [name, whole[name]] as const)
  const file = { ...Object.fromEntries(fields), gitHead: commitIn(root) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(file, undefined, 2)}\n`)
}

const [given = join(root, 'release')] = process.argv.slice(2)
const folder = resolve(given)
makePackage(folder)
const here = relative(process.cwd(), folder)
process.stdout.write(`${here} runs anywhere: cd ${here} && node ${program} serve\n`)
