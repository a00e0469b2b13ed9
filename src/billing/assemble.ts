import { databaseNow } from '../database/now.ts'
import { requireMigrated } from '../database/migrate.ts'
import type { OpenDatabase } from '../database/open-database.ts'
import { usualPatience, type Patience } from '../database/patience.ts'
import { countAnswers } from '../intake/count-answers.ts'
import type { AtOnce, AtOnceResult, Intake } from '../intake/receive.ts'
import type { RefusalSamples } from '../intake/sample-refusals.ts'
import { asLeased } from '../intake/insert-calls.ts'
import { createCallStore } from '../intake/store-calls.ts'
import { seconds } from '../kernel/duration.ts'
import { newUuid, randomFraction } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import { loadSpans } from '../kernel/open-telemetry.ts'
import type { Spans } from '../kernel/spans.ts'
import { tally } from '../kernel/tally.ts'
import { registerListeners, type ListenerRegistry } from '../listeners/listeners.ts'
import { processCall } from '../processing/process-calls.ts'
import { startFlush, type Flush } from '../numbers/flush.ts'
import type { Numbers } from '../numbers/slots.ts'
import { openFeed } from '../outbound/feed.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { CallEnd } from '../processing/end-calls.ts'
import { databaseQueue } from '../queue/database-queue.ts'
import type { HandOver } from '../queue/hand-over.ts'
import type { QueueConnection } from '../queue/queue.ts'
import { syncQueue } from '../queue/sync-queue.ts'
import { createUsageGathering } from '../usage/gather-usage.ts'
import { bindBilling } from './bind-billing.ts'
import { moneyContextOf } from './money-context.ts'
import type { Parts } from './parts.ts'
import type { ServiceSettings } from './settings.ts'

const postgresListenerBudget = seconds(20)
/** While a transaction is open on the embedded database, everything else waits. */
const embeddedListenerBudget = seconds(1)

export interface Assembly {
  readonly settings: ServiceSettings
  readonly listeners: ListenerRegistry
  readonly numbers: Numbers
  readonly samples?: RefusalSamples
  readonly patience?: Patience | undefined
  wake: ProcessingContext['wake']
  readonly handOver?: () => HandOver | undefined
}

/** Puts the parts together around an open database; refuses an outdated schema. */
export async function assemble(open: OpenDatabase, assembly: Assembly): Promise<Parts> {
  const { settings, listeners, numbers } = assembly
  await requireMigrated(open.database)
  const queue =
    settings.queueConnection === 'sync' ? syncQueue() : databaseQueue(open.database, settings.log)
  const feed = openFeed(open.database, settings.log)
  const spans = settings.tracer && (await loadSpans(settings.tracer, settings))
  const processing = processingOf({ open, queue, feed, spans }, assembly)
  // Here requests themselves apply outcomes, so this process must have every listener.
  if (queue.inline) await registerListeners(open.database.db, listeners)
  const calls = createCallStore({
    database: open.intake,
    mostFlushes: open.intake.pool.options.max,
    log: settings.log,
    deadline: (assembly.patience ?? usualPatience).answering,
    cipher: settings.cipher,
    counts: {
      flush: numbers.histogram('flush_seconds', {}),
      decided: (resolution) => numbers.add('commit_unknown_total', { site: 'intake', resolution }),
    },
    ...(!queue.inline && {
      announce: () => announceCalls(queue, settings.log),
      ...(assembly.handOver && { handOver: assembly.handOver }),
    }),
  })
  return {
    open,
    queue,
    calls,
    usage: createUsageGathering({ processing, queue: settings.queue, log: settings.log }),
    processing,
    feed,
    flush: flushOf(open, assembly),
    intake: intakeOf({ calls, queue, processing }, assembly),
  }
}

/** Undefined without a tracer. */
interface WithSpans {
  readonly spans: Spans | undefined
}

function processingOf(
  { open, queue, feed, spans }: Pick<Parts, 'open' | 'queue' | 'feed'> & WithSpans,
  assembly: Assembly,
): ProcessingContext {
  const { settings, listeners, numbers, wake } = assembly
  const { database } = open
  const embedded = database.kind === 'embedded'
  const processing: ProcessingContext = {
    database,
    listeners,
    gateways: settings.gateways,
    log: settings.log,
    numbers,
    spans,
    cipher: settings.cipher,
    newId: newUuid,
    random: randomFraction,
    subscriptionTime: databaseNow,
    subscriptionPolicy: settings.subscriptions,
    production: settings.production,
    listenerBudget:
      settings.listenerBudget ?? (embedded ? embeddedListenerBudget : postgresListenerBudget),
    underWay: new Set(),
    scrub: settings.scrub,
    bind: (transaction, afterCommit) =>
      bindBilling(transaction, moneyContextOf({ processing, queue }, settings), afterCommit),
    invoicing: settings.invoices,
    invoiceUrl: (id) => `${settings.origin}/billing/invoices/${id}`,
    payPageUrl: (id) => `${settings.origin}/billing/subscriptions/${id}/pay`,
    onEvents: () => feed.numberer.ask(),
    wake,
  }
  return processing
}

function intakeOf(
  parts: Pick<Parts, 'calls' | 'queue' | 'processing'>,
  { settings, numbers, samples }: Assembly,
): Intake {
  const { calls, queue, processing } = parts
  return {
    calls,
    spans: processing.spans,
    gateways: settings.gateways,
    clock: settings.clock,
    newId: newUuid,
    log: settings.log,
    cipher: settings.cipher,
    queue: settings.queue,
    origin: settings.origin,
    atOnce: queue.inline ? processAtOnce(processing) : undefined,
    counts: countAnswers(numbers, settings.gateways),
    samples,
    refusals: tally(
      ({ count, names }) => settings.log.warn({ count, reasons: names }, 'more callbacks refused'),
      { single: mostRefusalsLoggedSingly },
    ),
  }
}

function flushOf({ database: { db } }: OpenDatabase, { settings, numbers }: Assembly): Flush {
  const { clock, log } = settings
  return startFlush({ numbers, db, process: newUuid(), clock, random: randomFraction, log })
}

/** Enough to find the mistake; a flood of refusals must not fill the log. */
const mostRefusalsLoggedSingly = 1_000

/** Not waited for: the calls are stored, and every worker looks once a second anyway. */
function announceCalls(queue: QueueConnection, log: Log): void {
  queue.announce().catch((error: unknown) => log.warn({ err: error }, 'could not wake workers'))
}

function processAtOnce(processing: ProcessingContext): AtOnce {
  return {
    leaseToken: newUuid,
    process: async (call): Promise<AtOnceResult> => {
      if (call.leaseToken === null) throw new Error('the call was stored without a lease')
      return atOnceResults[await processCall(asLeased(call, call.leaseToken), processing)]
    },
  }
}

/** Only completed work is acknowledged. */
const atOnceResults = {
  done: 'done',
  failed: 'failed',
  returned: 'postponed',
  lost: 'postponed',
} as const satisfies Record<CallEnd, AtOnceResult>
