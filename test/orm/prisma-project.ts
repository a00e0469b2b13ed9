import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { filesIn, root } from '../tidy/source-files.ts'

const execute = promisify(execFile)

/** The test project that brings Prisma along; the product does without. */
const project = 'test/prisma'

/** In the checkout, so that what is put there finds the packages of the product. */
const cache = join(root, '.cache')

/**
 * Where Prisma is installed with a client for the schema of the test project, as `prisma generate`
 * makes it: once for each lockfile and schema.
 */
export async function prismaProject(): Promise<string> {
  const home = join(cache, `prisma-${contentHash()}`)
  if (existsSync(home)) return home
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(`${home}.new-`)
  try {
    cpSync(join(root, project), aside, { recursive: true })
    cpSync(join(root, '.npmrc'), join(aside, '.npmrc'))
    await run(aside, 'npm', ['ci', '--ignore-scripts', '--prefer-offline'])
    await run(aside, process.execPath, ['node_modules/prisma/build/index.js', 'generate'])
    symlinkSync(root, join(aside, 'node_modules/quittance'))
    renameSync(aside, home)
  } catch (error) {
    // Another process may have been first.
    if (!existsSync(home)) throw error
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
  return home
}

function contentHash(): string {
  const hash = createHash('sha256')
  for (const { text } of filesIn(project, /./)) hash.update(text)
  return hash.digest('hex').slice(0, 16)
}

/** Type-checks a module of the project. */
export async function typeCheck(home: string, file: string): Promise<void> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --types node'
  const more = '--allowImportingTsExtensions --ignoreConfig'
  await run(home, process.execPath, [compiler, ...`${options} ${more}`.split(' '), file])
}

async function run(cwd: string, program: string, args: readonly string[]): Promise<void> {
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
    // The Node of these tests brings its own certificates; npm may need those of the machine.
    NODE_USE_SYSTEM_CA: '1',
    // Only migrations use that engine: named, it is not downloaded.
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
  }
  await execute(program, args, { cwd, env }).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${program} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
  })
}
