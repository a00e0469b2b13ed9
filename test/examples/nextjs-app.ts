import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installedProject, type InstalledProject } from '../support/installed-project.ts'
import { freePort, startProcess, type RunningProcess } from '../support/process.ts'
import { root } from '../tidy/source-files.ts'

/** Next.js, which the product does without. */
export function installNextjs(): Promise<InstalledProject> {
  // Next.js would warn of two lockfiles, this one and the checkout's.
  return installedProject('test/nextjs', (folder) => rmSync(join(folder, 'package-lock.json')))
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

/** Below `home`, where Next.js is installed. */
export function makeNextjsApp(home: string, example: string): NextjsApp {
  const folder = mkdtempSync(join(home, 'app-'))
  cpSync(join(root, 'examples', example), folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
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
