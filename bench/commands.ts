import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createRounds, type Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

const run = promisify(execFile)
const commands = [['--help'], ['--version'], ['gateways'], ['payments', '--help']]

/** How long simple commands take, as the package is published. */
export async function benchCommands(options: BenchOptions): Promise<readonly Figure[]> {
  const { settings, folder, progress } = options
  progress('commands')
  const project = fileURLToPath(new URL('..', import.meta.url))
  // Below the project, so that its packages are found.
  const built = join(project, 'node_modules', '.cache', 'quittance-bench')
  const dist = join(built, 'dist')
  await run('npx', ['tsc', '-p', 'tsconfig.build.json', '--outDir', dist], { cwd: project })
  copyFileSync(join(project, 'package.json'), join(built, 'package.json'))
  const main = join(dist, 'cli', 'main.js')
  const rounds = createRounds()
  for (let round = 1; round <= settings.commandRounds; round += 1) {
    rounds.add('node -e ""', { ms: await time(['-e', ''], folder) })
    for (const args of commands) {
      rounds.add(`quittance ${args.join(' ')}`, { ms: await time([main, ...args], folder) })
    }
  }
  return rounds.figures(['node -e ""'])
}

async function time(args: readonly string[], cwd: string): Promise<number> {
  const { PATH = '', HOME = '' } = process.env
  const begun = performance.now()
  await run(process.execPath, [...args], { cwd, env: { PATH, HOME } })
  return performance.now() - begun
}
