import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { publish } from './publish.ts'
import { repeatRounds, type Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

const run = promisify(execFile)
const baseline = 'node -e ""'
const commands = [['--help'], ['--version'], ['gateways'], ['payments', '--help']]

/** How long simple commands take, as the package is published. */
export async function benchCommands(options: BenchOptions): Promise<readonly Figure[]> {
  const { settings, folder, progress } = options
  const main = await publish()
  const rounds = await repeatRounds(
    {
      count: settings.commandRounds,
      baseline,
      progress: (round) => progress(`commands, ${round}`),
    },
    async (each) => {
      each.add(baseline, { ms: await time(['-e', ''], folder) })
      for (const args of commands) {
        each.add(`quittance ${args.join(' ')}`, { ms: await time([main, ...args], folder) })
      }
    },
  )
  return rounds.figures([baseline])
}

async function time(args: readonly string[], cwd: string): Promise<number> {
  const { PATH = '', HOME = '' } = process.env
  const begun = performance.now()
  await run(process.execPath, [...args], { cwd, env: { PATH, HOME } })
  return performance.now() - begun
}
