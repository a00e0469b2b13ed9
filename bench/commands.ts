import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { publish } from './publish.ts'
import { createRounds, type Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

const run = promisify(execFile)
const commands = [['--help'], ['--version'], ['gateways'], ['payments', '--help']]

/** How long simple commands take, as the package is published. */
export async function benchCommands(options: BenchOptions): Promise<readonly Figure[]> {
  const { settings, folder, progress } = options
  progress('commands')
  const main = await publish()
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
