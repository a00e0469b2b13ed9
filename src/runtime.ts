import type { WorkOptions } from './billing-types.ts'
import type { Transaction } from './database/connect.ts'
import { requireMigrated } from './database/migrate.ts'
import { openDatabase, type OpenDatabase } from './database/open-database.ts'
import { findPayment, listPayments } from './database/payments.ts'
import type { Intake } from './intake/receive.ts'
import { createCallStore, type CallStore } from './intake/store-calls.ts'
import { systemClock } from './kernel/clock.ts'
import { seconds } from './kernel/duration.ts'
import { QuittanceError } from './kernel/errors.ts'
import { newUuid } from './kernel/ids.ts'
import { randomFraction } from './kernel/random.ts'
import { scrubber } from './kernel/secret.ts'
import { registerOptionListeners } from './listener-options.ts'
import type { BillingOptions } from './options.ts'
import type { Payment } from './payments/payment.ts'
import { requeueCallsAwaiting } from './processing/awaiting.ts'
import {
  createPayment,
  type CreatePaymentInput,
  type PaymentCreation,
} from './processing/create-payment.ts'
import type { AfterCommit } from './processing/dispatch-events.ts'
import type { BoundBilling } from './processing/listener.ts'
import { refuseInsideListener } from './processing/listener-scope.ts'
import {
  createListenerRegistry,
  registerListeners,
  type ListenerRegistry,
  type RegisteredListener,
} from './processing/listeners.ts'
import type { EventType } from './events/catalogue.ts'
import { processCall, type Processing } from './processing/process-call.ts'
import { startWorker, type Worker } from './processing/worker.ts'
import { databaseQueue } from './queue/database.ts'
import type { LeasedCall } from './queue/lease.ts'
import type { QueueConnection } from './queue/queue.ts'
import { syncQueue } from './queue/sync.ts'
import { readSettings, type Settings } from './settings.ts'
import { prune } from './upkeep/prune.ts'
import { startUpkeep } from './upkeep/start-upkeep.ts'

/** The open parts behind the public operations of `createCore`. */
export interface Runtime {
  readonly settings: Settings
  readonly listeners: ListenerRegistry
  addListener<T extends EventType>(listener: RegisteredListener<T>): void
  /** Opens the database once; refuses an outdated schema. */
  opened(): Promise<OpenDatabase>
  /** Opens the database once, whatever its schema. */
  connected(): Promise<OpenDatabase>
  intake(): Promise<Intake>
  announce(callIds: readonly string[]): Promise<void>
  createPayment(input: CreatePaymentInput): Promise<Payment>
  work(options: WorkOptions): Promise<Worker>
  close(): Promise<void>
}

/** What exists once the database is open. */
interface Parts {
  readonly open: OpenDatabase
  readonly queue: QueueConnection
  readonly calls: CallStore
  readonly processing: Processing
  readonly intake: Intake
}

const postgresListenerBudget = seconds(20)
/** While a transaction is open on the embedded database, everybody else waits. */
const embeddedListenerBudget = seconds(1)
const postgresLanes = 8
const embeddedLanes = 2

export function createRuntime(options: BillingOptions): Runtime {
  const settings = readSettings(options)
  const listeners = createListenerRegistry()
  registerOptionListeners(listeners, options.listeners ?? {})
  const workers = new Set<Worker>()
  let connecting: Promise<OpenDatabase> | undefined
  let assembling: Promise<Parts> | undefined
  let lost: QuittanceError | undefined

  const connected = () => {
    connecting ??= openDatabase({
      ...settings.database,
      log: settings.log,
      onLost: (error) => {
        lost = error
        settings.log.fatal({ err: error }, 'the embedded database is gone')
        options.onLost?.(error)
      },
    })
    return connecting
  }
  const parts = async () => {
    if (lost !== undefined) throw lost
    assembling ??= assemble(await connected(), { settings, options, listeners, wake })
    return assembling
  }
  const wake = () => {
    for (const worker of workers) worker.wake()
  }

  return {
    settings,
    listeners,
    addListener(listener) {
      const inline = settings.queueConnection === 'sync' && assembling !== undefined
      if (workers.size > 0 || inline) {
        throw new QuittanceError(
          'listener_too_late',
          `listener ${listener.name} was registered after processing had begun`,
        )
      }
      listeners.add(listener)
    },
    connected,
    opened: async () => (await parts()).open,
    intake: async () => (await parts()).intake,
    announce: async (callIds) => (await parts()).queue.announce(callIds),
    createPayment: async (input) => createAndSettle(await parts(), { settings, input }),
    async work(workOptions) {
      refuseInsideListener('billing.work')
      const worker = await startWork(await parts(), { settings, options: workOptions })
      workers.add(worker)
      return worker
    },
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop()))
      await (await assembling?.catch(() => undefined))?.calls.close()
      await (await connecting?.catch(() => undefined))?.close()
    },
  }
}

interface Assembly {
  readonly settings: Settings
  readonly options: BillingOptions
  readonly listeners: ListenerRegistry
  wake(): void
}

async function assemble(open: OpenDatabase, assembly: Assembly): Promise<Parts> {
  const { settings, listeners } = assembly
  await requireMigrated(open.database)
  const queue =
    settings.queueConnection === 'sync' ? syncQueue() : databaseQueue(open.database, settings.log)
  const processing = processingOf(open, queue, assembly)
  // Here requests themselves apply outcomes, so this process must have every listener.
  if (queue.inline) await registerListeners(open.database.db, listeners)
  const calls = createCallStore({ pool: open.intake.pool, log: settings.log })
  return {
    open,
    queue,
    calls,
    processing,
    intake: intakeOf({ calls, queue, processing }, settings),
  }
}

function processingOf(open: OpenDatabase, queue: QueueConnection, assembly: Assembly): Processing {
  const { settings, options, listeners, wake } = assembly
  const { database } = open
  const embedded = database.kind === 'embedded'
  return {
    database,
    listeners,
    gateways: settings.gateways,
    log: settings.log,
    newId: newUuid,
    random: randomFraction,
    attempts: queue.attempts,
    listenerBudget:
      options.listenerBudgetMs ?? (embedded ? embeddedListenerBudget : postgresListenerBudget),
    scrub: scrubber(settings.secrets),
    bind: (transaction, afterCommit) =>
      bindBilling(transaction, { afterCommit, settings, queue, open }),
    onCalls: wake,
    onDeliveries: wake,
  }
}

function intakeOf(
  parts: Pick<Parts, 'calls' | 'queue' | 'processing'>,
  settings: Settings,
): Intake {
  const { calls, queue, processing } = parts
  return {
    calls,
    gateways: settings.gateways,
    clock: systemClock,
    newId: newUuid,
    log: settings.log,
    queue: settings.queue,
    origin: settings.origin,
    leaseToken: () => (queue.inline ? newUuid() : null),
    dispatch: async (call) => {
      if (call.leaseToken === null) {
        // Not waited for: the call is stored, and a worker looks by itself every second.
        queue
          .announce([call.id])
          .catch((error: unknown) => settings.log.warn({ err: error }, 'could not wake workers'))
        return true
      }
      const leased: LeasedCall = {
        ...call,
        token: call.leaseToken,
        body: Buffer.from(call.bytes),
        attempts: 0,
        leases_lost: 0,
        times_returned: 0,
      }
      return (await processCall(leased, processing)) !== 'failed'
    },
  }
}

function creationOf(settings: Settings): PaymentCreation {
  return {
    gateways: settings.gateways,
    newId: newUuid,
    checkoutUrl: (name, paymentId) => {
      // Only a gateway without a provider behind it has its checkout here.
      const own = settings.gateways.find(name)?.gateway.verification === 'none'
      return own ? `${settings.origin}/billing/${name}/checkout/${paymentId}` : null
    },
  }
}

/** Creates a payment; callbacks that came before it are looked at again. */
async function createAndSettle(
  { open, queue }: Parts,
  { settings, input }: { readonly settings: Settings; readonly input: CreatePaymentInput },
): Promise<Payment> {
  const { db } = open.database
  const payment = await createPayment(db, creationOf(settings), input)
  await settleEarlyCalls(open, queue, payment).catch((error: unknown) =>
    settings.log.warn({ err: error }, 'could not look for early callbacks; the sweeper will'),
  )
  return payment
}

async function settleEarlyCalls(
  open: Pick<OpenDatabase, 'database'>,
  queue: QueueConnection,
  payment: Payment,
): Promise<void> {
  const calls = await requeueCallsAwaiting(open.database.db, payment)
  if (calls.length > 0) await queue.announce(calls)
}

/** The operations that a listener may use inside its transaction. */
function bindBilling(
  { db }: Transaction,
  bound: {
    readonly afterCommit: AfterCommit
    readonly settings: Settings
    readonly queue: QueueConnection
    readonly open: OpenDatabase
  },
): BoundBilling {
  const { settings, queue, open } = bound
  return {
    payments: {
      create: async (input) => {
        const payment = await createPayment(db, creationOf(settings), input)
        bound.afterCommit(() => settleEarlyCalls(open, queue, payment))
        return payment
      },
      get: (id) => findPayment(db, id),
      list: (query = {}) => listPayments(db, query),
    },
  }
}

async function startWork(
  { open, queue, processing }: Parts,
  { settings, options }: { readonly settings: Settings; readonly options: WorkOptions },
): Promise<Worker> {
  const { database } = open
  const { log, retentionDays } = settings
  const lanes = database.kind === 'embedded' ? embeddedLanes : postgresLanes
  // Under `sync` this process is the only one that processes what the sweeper puts back.
  const idle = options.upkeepOnly === true && !queue.inline
  const worker = idle ? idleWorker() : await startProcessing()
  const upkeep = startUpkeep({
    database,
    log,
    newId: newUuid,
    onRequeued: () => worker.wake(),
    schedules: [
      {
        name: 'prune',
        expression: '17 3 * * *',
        run: async () => {
          await prune(database, { retentionDays, log })
        },
      },
    ],
  })
  return {
    ...worker,
    stop: async () => {
      await upkeep.stop()
      await worker.stop()
    },
  }

  async function startProcessing(): Promise<Worker> {
    await registerListeners(database.db, processing.listeners)
    return startWorker({ processing, queue, queues: options.queues, lanes })
  }
}

/** Stands in where other processes do the processing. */
function idleWorker(): Worker {
  const ended = Promise.withResolvers<Error | undefined>()
  return {
    wake: () => {},
    stop: async () => ended.resolve(undefined),
    ended: ended.promise,
  }
}
