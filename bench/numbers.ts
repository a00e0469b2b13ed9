import { benchTargets, startOnPostgres } from './intake.ts'
import type { Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

const uncounted = 'nothing is counted'

/** What it costs a callback that it is counted and timed, by number of senders. */
export function benchNumbers(
  options: BenchOptions,
): Promise<ReadonlyMap<number, readonly Figure[]>> {
  return benchTargets(options, {
    starts: [
      (given) =>
        startOnPostgres(given, { subject: uncounted, args: [], main: 'serve-uncounted.ts' }),
      (given) => startOnPostgres(given, { subject: 'serve', args: [] }),
    ],
    baselines: [uncounted],
    areAlike: true,
    rounds: options.settings.numbersRounds,
  })
}
