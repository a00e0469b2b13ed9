import { benchCommands } from './commands.ts'
import { benchConsole } from './console.ts'
import { benchFeed } from './feed.ts'
import { benchForwarding } from './forwarding.ts'
import { benchGrowth } from './growth.ts'
import { benchIntake } from './intake.ts'
import { benchLatency } from './latency.ts'
import { benchMemory } from './memory.ts'
import { benchNumbers } from './numbers.ts'
import { benchPolling, benchSyncs } from './polling.ts'
import { benchProcessing } from './processing.ts'
import { benchRenewals } from './renewals.ts'
import type { Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'
import { benchTogether } from './together.ts'
import { benchUsage } from './usage.ts'
import { benchViewers } from './viewers.ts'

/** A table of the report. */
export interface Section {
  readonly title: string
  readonly figures: readonly Figure[]
}

type Bench = (options: BenchOptions) => Promise<readonly Section[]>

function section(
  title: string,
  bench: (options: BenchOptions) => Promise<readonly Figure[]>,
): Bench {
  return async (options) => [{ title, figures: await bench(options) }]
}

/** What is measured, in this order. */
export const areas = {
  intake: async (options: BenchOptions) =>
    Array.from(await benchIntake(options), ([senders, figures]) => ({
      title: `Intake, ${senders} senders: callbacks stored and answered in a second`,
      figures,
    })),
  numbers: async (options: BenchOptions) =>
    Array.from(await benchNumbers(options), ([senders, figures]) => ({
      title: `What counting costs, ${senders} senders: callbacks in a second`,
      figures,
    })),
  viewers: async (options: BenchOptions) =>
    Array.from(await benchViewers(options), ([senders, figures]) => ({
      title: `Callbacks while people look at the console, ${senders} senders: in a second`,
      figures,
    })),
  processing: section('Processing a backlog: calls in a second', benchProcessing),
  together: section('Intake and processing in one process: calls in a second', benchTogether),
  latency: section('From the answer to the committed event, at a steady rate', benchLatency),
  growth: section('Processing beside what is finished: calls in a second', benchGrowth),
  renewals: async (options: BenchOptions) => {
    const { renewals, looks } = await benchRenewals(options)
    return [
      { title: 'Due subscriptions: renewals in a second', figures: renewals },
      { title: 'Nothing due: one look at the database, in ms', figures: looks },
    ]
  },
  polling: async (options: BenchOptions) => [
    {
      title: 'Lost callbacks beside payments that nobody pays: minutes until found, at most',
      figures: await benchPolling(options),
    },
    {
      title: 'Changed subscriptions beside all that are due: minutes until asked',
      figures: await benchSyncs(options),
    },
  ],
  usage: async (options: BenchOptions) => {
    const { recorded, reads } = await benchUsage(options)
    return [
      ...Array.from(recorded, ([count, figures]) => ({
        title: `Usage of ${count.toLocaleString('en')} subscriptions: records in a second`,
        figures,
      })),
      { title: 'usage.get, in ms', figures: reads },
    ]
  },
  feed: async (options: BenchOptions) => {
    const { processing, together } = await benchFeed(options)
    return [
      { title: 'The feed beside a backlog: calls in a second', figures: processing },
      { title: 'The feed beside intake and processing: callbacks in a second', figures: together },
    ]
  },
  forwarding: section('Events to endpoints, from their writing to the request', benchForwarding),
  console: section('Pages of the console beside a million calls', benchConsole),
  memory: section('Memory of the service, in MB', benchMemory),
  commands: section('Commands, in ms', benchCommands),
} as const satisfies Record<string, Bench>

export function isAreaName(name: string): name is keyof typeof areas {
  return Object.hasOwn(areas, name)
}
