import { setTimeout as pause } from 'node:timers/promises'
import type { Registry as MetricsRegistry } from '@prometheus-io/client'
import { writeRefusal } from '../database/refusals.ts'
import { readInstallationKey } from '../database/installation.ts'
import { openDatabase, type OpenDatabase, type OpenOptions } from '../database/open-database.ts'
import type { Patience } from '../database/patience.ts'
import type { Registry } from '../gateways/registry.ts'
import { countAnswers, type AnswerCounts } from '../intake/count-answers.ts'
import type { Intake } from '../intake/receive.ts'
import { sampleRefusals, type RefusalSamples } from '../intake/sample-refusals.ts'
import { systemClock, type StillClock } from '../kernel/clock.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { silentLog, withSafeErrors } from '../kernel/log.ts'
import { makeOnce, type MadeOnce } from '../kernel/make-once.ts'
import type { Secret } from '../kernel/secret.ts'
import type { MoneyContext } from '../money/context.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import {
  createListenerRegistry,
  type ListenerRegistry,
  type RegisteredListener,
} from '../listeners/listeners.ts'
import { beginAtZero } from '../numbers/begin-at-zero.ts'
import { createNumbers, type Numbers } from '../numbers/slots.ts'
import type { UsageGatherer } from '../usage/gather-usage.ts'
import type { Worker } from '../worker/worker.ts'
import { assemble } from './assemble.ts'
import type { Parts } from './parts.ts'
import { createEntitlement, type Entitlement } from './entitlement.ts'
import { metricsOf } from './read-metrics.ts'
import { registerOptionListeners } from './register-option-listeners.ts'
import type { BillingOptions } from './options.ts'
import { moneyContextOf } from './money-context.ts'
import { readSettings, type ServiceSettings } from './settings.ts'
import { startWork } from './start-work.ts'
import { createWorkers, type Workers } from './workers.ts'
import type { WorkOptions } from './types.ts'

/** The open parts behind the public operations of `createCore`. */
export interface Runtime extends Pick<Entitlement, 'registeredContext' | 'entitledContext'> {
  readonly settings: ServiceSettings
  readonly listeners: ListenerRegistry
  addListener(listener: RegisteredListener): void
  readonly numbers: Numbers
  readonly answers: AnswerCounts
  /** Of refused callbacks; none is written before the database is open. */
  readonly samples: RefusalSamples
  readonly metrics: MadeOnce<MetricsRegistry>
  /** Opens the database once; refuses an outdated schema. */
  opened(): Promise<OpenDatabase>
  /** Opens the database once, whatever its schema. */
  connected(): Promise<OpenDatabase>
  /** Everything that is there once the database is open. */
  parts(): Promise<Parts>
  intake(): Promise<Intake>
  usage(): Promise<UsageGatherer>
  announce(): Promise<void>
  /** What only those know who read the database. */
  databaseKey(): Promise<Secret>
  /** For work that neither claims nor applies: listeners are not checked. */
  context(): Promise<MoneyContext>
  work(options: WorkOptions): Promise<Worker>
  close(): Promise<void>
}

/** How long work after commits may take when the service is closed. */
const workGrace: Duration = seconds(5)
/** What was counted last may be lost. */
const flushGrace: Duration = seconds(3)

/** What takes the place of the world: in a rehearsal, and in our own tests. */
export interface Stage {
  /** All live by it: the embedded database, too. */
  readonly clock?: StillClock
  readonly gateways?: (registered: Registry) => Registry
  /** For a database on a machine that may be slow. */
  readonly patience?: Patience
}

function serviceSettings(options: BillingOptions, stage: Stage): ServiceSettings {
  const settings = readSettings(options)
  return {
    ...settings,
    ...(stage.gateways && { gateways: stage.gateways(settings.gateways) }),
    log: withSafeErrors(options.log ?? silentLog, settings.scrub),
    clock: stage.clock?.now ?? systemClock,
  }
}

export function createRuntime(options: BillingOptions, stage: Stage = {}): Runtime {
  const { patience } = stage
  const settings = serviceSettings(options, stage)
  const listeners = createListenerRegistry()
  const numbers = numbersOf(settings)
  registerOptionListeners(listeners, options.listeners ?? {})
  const workers = createWorkers()
  let lost: QuittanceError | undefined

  const onLost = (error: QuittanceError) => {
    lost = error
    settings.log.fatal({ err: error }, 'the embedded database is gone')
    settings.onLost?.(error)
  }
  const { wake, handOver } = workers
  const database = makeOnce(() => openOn(stage, { ...settings, onLost }))
  const samples = samplesOf(async () => (await assembled.peek())?.open)
  const assembled = makeOnce(async () => {
    const given = { settings, listeners, numbers, samples, patience, wake, handOver }
    return assemble(await database.get(), given)
  })
  const parts = async () => {
    if (lost !== undefined) throw lost
    return assembled.get()
  }
  const opened = async () => (await parts()).open
  const databaseKey = makeOnce(async () => readInstallationKey((await parts()).open.database.db))
  const entitlement = createEntitlement(parts, settings)
  const { registeredContext, entitledContext } = entitlement

  return {
    settings,
    listeners,
    numbers,
    samples,
    answers: countAnswers(numbers, settings.gateways),
    metrics: metricsOf({ settings, numbers, opened }),
    addListener(listener) {
      const inline = settings.queueConnection === 'sync' && assembled.begun
      if (workers.begun || entitlement.begun || inline) throw tooLate(listener.name)
      listeners.add(listener)
    },
    connected: database.get,
    opened,
    parts,
    intake: async () => (await parts()).intake,
    usage: async () => (await parts()).usage,
    announce: async () => (await parts()).queue.announce(),
    databaseKey: databaseKey.get,
    context: async () => moneyContextOf(await parts(), settings),
    registeredContext,
    entitledContext,
    work: async (workOptions) => {
      refuseInsideListener('billing.work')
      return workers.start(() => startWork(parts, { settings, options: workOptions }))
    },
    close: () => closeInOrder(workers, assembled, database),
  }
}

/**
 * The same, over the connections of those who look; what dispatches events keeps those of the work.
 */
export function runtimeForPeople(runtime: Runtime): Runtime {
  const looking = (open: OpenDatabase) => ({ ...open, database: open.looks })
  return {
    ...runtime,
    opened: async () => looking(await runtime.opened()),
    parts: async () => {
      const parts = await runtime.parts()
      return { ...parts, open: looking(parts.open) }
    },
  }
}

function openOn(
  { clock, patience }: Stage,
  { database, origin, log, onLost }: ServiceSettings & Pick<OpenOptions, 'onLost'>,
): Promise<OpenDatabase> {
  return openDatabase({ ...database, origin, clock: clock?.shared, patience, log, onLost })
}

/** Before the database is open nothing is written, and it is not opened for this. */
function samplesOf(peek: () => Promise<OpenDatabase | undefined>): RefusalSamples {
  return sampleRefusals({
    write: async (sample) => {
      const open = await peek()
      if (open !== undefined) await writeRefusal(open.database.db, sample)
    },
  })
}

function numbersOf({ gateways }: ServiceSettings): Numbers {
  const numbers = createNumbers()
  const names = gateways.list().map(({ gateway }) => gateway.name)
  beginAtZero(numbers, names)
  return numbers
}

async function closeInOrder(
  workers: Workers,
  assembled: MadeOnce<Parts>,
  database: MadeOnce<OpenDatabase>,
): Promise<void> {
  await workers.stop()
  await finish(await assembled.peek())
  await (await database.peek())?.close()
}

/** Best effort, and bounded: otherwise work that never ends would keep us waiting. */
async function finish(parts: Parts | undefined): Promise<void> {
  await Promise.all([parts?.calls.close(), parts?.usage.close()])
  parts?.intake.refusals.end()
  await Promise.race([parts?.intake.samples?.end(), pause(flushGrace, undefined, { ref: false })])
  const works = Promise.all([parts?.queue.flushed(), ...(parts?.processing.underWay ?? [])])
  await Promise.race([works, pause(workGrace, undefined, { ref: false })])
  await parts?.feed.stop()
  await Promise.race([parts?.flush.stop(), pause(flushGrace, undefined, { ref: false })])
}

function tooLate(name: string): QuittanceError {
  return new QuittanceError(
    'listener_too_late',
    `listener ${name} was registered after processing had begun`,
  )
}
