import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort, startProcess, type RunningProcess } from '../support/process.ts'
import { read, root } from '../tidy/source-files.ts'

const execute = promisify(execFile)

/** The test project that brings Next.js along; the product does without. */
const project = 'test/nextjs'

/** In the checkout, so that an app there finds the packages that the product needs. */
const cache = join(root, '.cache')

/** Where Next.js is installed: once for each lockfile. */
const home = join(
  cache,
  `nextjs-${createHash('sha256')
    .update(read(`${project}/package-lock.json`))
    .digest('hex')
    .slice(0, 16)}`,
)

/** Installs Next.js unless it is there; why it cannot be, if so. */
export async function installNextjs(): Promise<string | undefined> {
  if (existsSync(home)) return undefined
  mkdirSync(cache, { recursive: true })
  const aside = mkdtempSync(`${home}.new-`)
  try {
    cpSync(join(root, project), aside, { recursive: true })
    cpSync(join(root, '.npmrc'), join(aside, '.npmrc'))
    await execute('npm', ['ci', '--ignore-scripts', '--prefer-offline'], {
      cwd: aside,
      env: {
        ...process.env,
        PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH']}`,
      },
    })
    // Next.js would warn of two lockfiles, this one and the checkout's.
    rmSync(join(aside, 'package-lock.json'))
    renameSync(aside, home)
    return undefined
  } catch (error) {
    // Another process may have been first.
    if (existsSync(home)) return undefined
    return `Next.js could not be installed: ${error instanceof Error ? error.message : String(error)}`
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

/** An app of an example, with the built package installed. */
export interface NextjsApp extends Disposable {
  readonly folder: string
  /** `next build`. Fails with what it printed. */
  build(): Promise<void>
  /** Its types, as the build checks them. Fails with what is wrong. */
  checkTypes(): Promise<void>
  /** `next start` or `next dev`, and where it listens. */
  run(
    command: 'start' | 'dev',
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly running: RunningProcess; readonly url: string }>
}

export function makeNextjsApp(example: string): NextjsApp {
  const folder = mkdtempSync(join(home, 'app-'))
  cpSync(join(root, 'examples', example), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const installed = join(folder, 'node_modules/quittance')
  cpSync(join(root, 'dist'), join(installed, 'dist'), { recursive: true })
  cpSync(join(root, 'package.json'), join(installed, 'package.json'))
  const next = join(home, 'node_modules/next/dist/bin/next')
  const quiet = { NEXT_TELEMETRY_DISABLED: '1' }
  const finish = async (file: string, args: readonly string[]) => {
    const running = startProcess(args, { file, cwd: folder, env: quiet })
    const { code, stdout, stderr } = await running.ended
    if (code !== 0) throw new Error([file, ...args, code, ...stdout, ...stderr].join('\n'))
  }
  return {
    folder,
    build: () => finish(next, ['build']),
    checkTypes: () => finish(join(home, 'node_modules/typescript/bin/tsc'), ['-p', folder]),
    async run(command, env) {
      const port = await freePort()
      const args = [command, '--port', String(port), '--hostname', '127.0.0.1']
      const url = `http://127.0.0.1:${port}`
      const running = startProcess(args, {
        file: next,
        cwd: folder,
        env: { ...quiet, APP_URL: url, ...env },
      })
      await running.line(/Ready in/)
      return { running, url }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
