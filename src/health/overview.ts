import type { Database } from '../database/connect.ts'
import {
  readBuckets,
  readPresent,
  type BucketCount,
  type CountRange,
} from '../database/read-counts.ts'
import { percentilesOf, type Percentiles } from '../inspect/percentile.ts'
import { refusalsOf, sumOf, type ReasonCount } from '../inspect/refusals.ts'
import { hours, minutes, type Duration } from '../kernel/duration.ts'
import { judge, lookInto, mostUrgentFirst, type Look } from './fact.ts'
import { allFacts, type Problem } from './facts.ts'
import {
  callsInWork,
  lastAccepted,
  queuedWork,
  sumOfWaiting,
  waitingCalls,
  workers,
  type LastAccepted,
} from './sources.ts'

export const overviewSpans = ['1h', '24h', '7d', '30d'] as const
/** How far an overview looks back. */
export type OverviewSpan = (typeof overviewSpans)[number]

const ranges: Readonly<Record<OverviewSpan, CountRange>> = {
  '1h': { span: 'minute', length: minutes(1), count: 60 },
  '24h': { span: 'quarter', length: minutes(15), count: 96 },
  '7d': { span: 'quarter', length: hours(2), count: 84 },
  '30d': { span: 'hour', length: hours(6), count: 120 },
}

/** What was counted in some time. */
export interface OverviewCounts {
  /** Callbacks that were answered 200. */
  readonly accepted: number
  /** Those of gateways that are known and were answered otherwise, the most frequent reason first. */
  readonly refused: readonly ReasonCount[]
  /** Calls, by how they ended. */
  readonly processed: number
  readonly ignored: number
  readonly failed: number
  /** From a complete callback to its answer, in seconds; null: there was none. */
  readonly callbackSeconds: Percentiles | null
  /** From the receipt of a call to the end of its first processing. */
  readonly delaySeconds: Percentiles | null
}

/** One of equal lengths of time. */
export interface OverviewBucket extends OverviewCounts {
  /** When it begins. */
  readonly at: Date
}

/** What is not done with; each count ends at 10,001. */
export interface OverviewBacklog {
  readonly pendingCalls: number
  readonly processingCalls: number
  /** How long the oldest call that is due has been waiting. */
  readonly oldestSeconds: number
  /** To queued listeners, and deferred events. */
  readonly pendingDeliveries: number
  readonly processingDeliveries: number
  /** That run. */
  readonly workers: number
}

/** How the service is doing. */
export interface Overview {
  /** By the database's clock. */
  readonly now: Date
  readonly span: OverviewSpan
  /** The most urgent first. */
  readonly problems: readonly Problem[]
  readonly counts: OverviewCounts
  /** How long each of `buckets` is. */
  readonly bucketSeconds: number
  /** Oldest first, at most 120; the last one is not over yet. */
  readonly buckets: readonly OverviewBucket[]
  readonly backlog: OverviewBacklog
  /** Of gateways that did so within eight days. */
  readonly lastAccepted: readonly LastAccepted[]
}

interface OverviewOf {
  readonly span: OverviewSpan
  /** Names of the gateways that this process knows. */
  readonly gateways: readonly string[]
}

const metrics = [
  'callbacks_total',
  'callbacks_refused_total',
  'calls_finished_total',
  'callback_seconds',
  'call_delay_seconds',
]

/** One statement after the other, each bounded. */
export async function readOverview(
  database: Database,
  { span, gateways }: OverviewOf,
): Promise<Overview> {
  const { db } = database
  const range = ranges[span]
  const { now, bucket } = await readPresent(db, range)
  const from = new Date(bucket.getTime() - (range.count - 1) * range.length)
  const counted = await readBuckets(db, metrics, { ...range, from })
  const looked = await lookInto(database, gateways, async (look) => ({
    problems: await readProblems(look),
    backlog: await readBacklog(look),
    lastAccepted: (await look.ask(lastAccepted)).toSorted((a, b) => a.seconds - b.seconds),
  }))
  return {
    now,
    span,
    counts: countsOf(counted),
    bucketSeconds: range.length / 1000,
    buckets: bucketsOf(counted, from, range),
    ...looked,
  }
}

/** Also those in which nothing was counted. */
function bucketsOf(
  counted: readonly BucketCount[],
  from: Date,
  { length, count }: { readonly length: Duration; readonly count: number },
): readonly OverviewBucket[] {
  const inEach = Map.groupBy(counted, ({ at }) => at.getTime())
  return Array.from({ length: count }, (_, index) => {
    const at = new Date(from.getTime() + index * length)
    return { at, ...countsOf(inEach.get(at.getTime()) ?? []) }
  })
}

function countsOf(counted: readonly BucketCount[]): OverviewCounts {
  const ended = (state: string) =>
    sumOf(counted, 'calls_finished_total', (label) => label === state)
  const timed = (metric: string) => percentilesOf(counted.filter((one) => one.metric === metric))
  return {
    accepted: sumOf(counted, 'callbacks_total', (label) => label === 'accepted'),
    refused: refusalsOf(counted),
    processed: ended('processed'),
    ignored: ended('ignored'),
    failed: ended('failed'),
    callbackSeconds: timed('callback_seconds'),
    delaySeconds: timed('call_delay_seconds'),
  }
}

/** One fact after the other. */
async function readProblems(look: Look): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const row of allFacts) {
    for (const { found, severity, text, fix } of (await judge(row, look)).wrong) {
      const { kind } = row
      const [path, title] = row.page(found)
      problems.push({ kind, ...found, severity, text, fix, page: { path, title } } as Problem)
    }
  }
  return mostUrgentFirst(problems)
}

async function readBacklog({ ask }: Look): Promise<OverviewBacklog> {
  const { pending, oldestSeconds } = sumOfWaiting(await ask(waitingCalls))
  const queued = await ask(queuedWork)
  return {
    pendingCalls: pending,
    processingCalls: await ask(callsInWork),
    oldestSeconds,
    pendingDeliveries: queued.pending,
    processingDeliveries: queued.processing,
    workers: await ask(workers),
  }
}
