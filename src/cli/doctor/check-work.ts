import type { Database } from '../../database/connect.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import { countWorkers } from '../../database/workers.ts'
import { listKnownListeners } from '../../listeners/known-listeners.ts'
import { isShortName, shownTypes, type ListenerRegistry } from '../../listeners/listeners.ts'
import { counted } from '../../kernel/counted.ts'
import { tooOldSeconds } from '../../upkeep/readiness.ts'
import {
  readCallBacklog,
  readFailedDeliveries,
  readOpenReviews,
  readSchedules,
  type FailedDeliveries,
} from '../../upkeep/diagnosis.ts'
import { reconcileSchedule } from './check-reconcile.ts'
import { atRest } from './open-for-diagnosis.ts'
import { knownNames, type Installation } from './installation.ts'
import { error, ok, skipped, thrown, warning, type Fault, type Finding } from './finding.ts'

const checks = ['queue', 'retries', 'failed_calls', 'review', 'deliveries', 'schedules'] as const

/** What waits, what failed, and whether a worker runs. */
export async function checkWork(installation: Installation): Promise<readonly Finding[]> {
  const { database: state } = installation
  const outdated = state.kind === 'open' && (await pendingMigrations(state.database)).length > 0
  const why = outdated ? 'the schema is outdated' : undefined
  const worker = await checkWorker(installation, why)
  const skip = async (reason: string) => [
    worker,
    ...checks.map((check) => skipped(check, reason)),
    ...(await checkListeners(installation, reason)),
  ]
  if (state.kind === 'closed') return skip(state.why)
  if (why !== undefined) return skip(why)
  const { database } = state
  return [
    worker,
    ...(await checkCalls(database, knownNames(installation))),
    await checkDeliveries(database),
    await checkSchedules(database),
    ...(await checkListeners(installation, database)),
  ]
}

async function checkWorker(
  { database: state, inspected }: Installation,
  unreadable: string | undefined,
): Promise<Finding> {
  if (state.kind === 'closed') {
    if (state.why !== atRest) return skipped('worker', state.why)
    return error('worker', {
      found: 'no service is running on the embedded database',
      fix: 'Start it: npm start, or quittance serve',
    })
  }
  if (unreadable !== undefined) return skipped('worker', unreadable)
  const count = await countWorkers(state.database.db)
  if (inspected.configuration.options.billing.queue.connection === 'sync') {
    return besideRequests(count)
  }
  if (count > 0) return ok('worker', count === 1 ? '1 is running' : `${count} are running`)
  return error('worker', {
    found: 'no worker is running: calls are stored, but not processed',
    fix: 'Start one: quittance work, or quittance serve',
  })
}

function besideRequests(workers: number): Finding {
  if (workers > 0) {
    return ok('worker', 'each request processes its own call, and a worker what is left over')
  }
  return warning('worker', {
    found:
      'each request processes its own call, but no worker retries one that was returned, or failed',
    fix: 'Run quittance serve, or quittance work; in an app: billing.work()',
  })
}

async function checkCalls(
  database: Database,
  gateways: readonly string[] | undefined,
): Promise<readonly Finding[]> {
  const calls = await readCallBacklog(database, gateways)
  const reviews = await readOpenReviews(database)
  const age = `the oldest due for ${calls.oldestPendingSeconds} s`
  const depth = `${calls.pending} pending, ${calls.processing} in work`
  return [
    calls.oldestPendingSeconds > tooOldSeconds
      ? error('queue', {
          found: `${depth}, ${age}`,
          fix: 'Start a worker, or more of them: quittance work',
        })
      : ok('queue', calls.pending === 0 ? depth : `${depth}, ${age}`),
    none('retries', calls.retried, {
      found: `${calls.retried} failed, or wait for a provider, and will be retried`,
      fix: 'They are retried automatically. See why: quittance calls list --state pending',
    }),
    none('failed_calls', calls.failed, {
      found: `${calls.failed} failed for good`,
      fix: 'See quittance calls list --state failed; then quittance calls replay --failed',
    }),
    none('review', reviews.count, {
      found: `what a person must look at: ${reviews.count}${since(reviews.oldestDays)}`,
      fix: 'See: quittance reviews list --state open, and docs/5-operations.md',
    }),
  ]
}

async function checkDeliveries(database: Database): Promise<Finding> {
  const failed = await readFailedDeliveries(database)
  return none('deliveries', failed.toListeners + failed.deferredEvents, {
    found: `${failedKinds(failed)} failed for good`,
    fix: 'Fix the listener, then run: quittance calls replay --failed',
  })
}

function failedKinds({ toListeners, deferredEvents }: FailedDeliveries): string {
  const deliveries = toListeners === 0 ? [] : [`${toListeners} to queued listeners`]
  const deferred = deferredEvents === 0 ? [] : [`${deferredEvents} deferred events`]
  return [...deliveries, ...deferred].join(' and ')
}

function since(oldestDays: number): string {
  return oldestDays === 0 ? '' : `, the oldest for ${counted(oldestDays, 'day')}`
}

function none(check: string, count: number, fault: Fault): Finding {
  return count === 0 ? ok(check, 'none') : warning(check, fault)
}

const hourSeconds = 3600
/** The command that does what a schedule does, if it has another name. */
const byHand: Readonly<Record<string, string>> = { repair: 'reconcile' }

async function checkSchedules(database: Database): Promise<Finding> {
  const schedules = await readSchedules(database)
  // A failed run of that one has its own check.
  const others = schedules.filter(({ name }) => name !== reconcileSchedule)
  const failed = others.find(({ lastError }) => lastError !== null)
  const late = schedules.find(({ overdueSeconds }) => overdueSeconds > hourSeconds)
  if (late !== undefined) {
    return warning('schedules', {
      found: `${late.name} is ${Math.round(late.overdueSeconds / hourSeconds)} h overdue`,
      fix: 'Keep a service or a worker running: it runs what is due.',
    })
  }
  if (failed !== undefined) {
    return warning('schedules', {
      found: `the last ${failed.name} failed: ${failed.lastError ?? ''}`,
      fix: `It is tried again within the hour; by hand: quittance ${byHand[failed.name] ?? failed.name}`,
    })
  }
  return ok('schedules', schedules.length === 0 ? 'none has run yet' : 'none is overdue')
}

/** `database`: or why it cannot be read. */
async function checkListeners(
  { listeners, inspected }: Installation,
  database: Database | string,
): Promise<readonly Finding[]> {
  if ('fault' in listeners) {
    return [thrown('listeners', listeners.fault, 'Correct the listeners in quittance.config.ts.')]
  }
  if (typeof database === 'string') return [skipped('listeners', database)]
  const registry = listeners.value
  const known = await knownKeys(database, registry)
  const own = shownTypes(registry.keys())
  const missing = known.filter((key) => !own.includes(key))
  const fresh = own.filter((key) => !known.includes(key))
  if (missing.length === 0 && fresh.length === 0) {
    return [ok('listeners', own.length === 0 ? 'none' : `${own.length} known, all of them here`)]
  }
  const [short, named] = [missing.filter(isShort), missing.filter((key) => !isShort(key))]
  const ofAnApp = inspected.configFile === undefined
  const severity = ofAnApp ? warning : error
  return [
    ...short.map((key) => severity('listeners', madeByMinifier(key))),
    ...(ofAnApp ? notHere(named) : named.map(lacking)),
    ...notYetKnown(fresh),
  ]
}

function notYetKnown(keys: readonly string[]): readonly Finding[] {
  if (keys.length === 0) return []
  return [
    warning('listeners', {
      found: `${keys.join(', ')}: not known to the database yet`,
      fix: 'Restart the service and the workers: they run an older configuration.',
    }),
  ]
}

/** If an app embeds the library, its listeners are in its code and not in a file. */
function notHere(keys: readonly string[]): readonly Finding[] {
  if (keys.length === 0) return []
  return [
    warning('listeners', {
      found: `without a quittance.config.ts, this command has none of: ${keys.join(', ')}`,
      fix: 'If an app registers them itself, leave them. Removed for good: quittance listeners forget NAME',
    }),
  ]
}

/** `key`: of a listener that the database knows and this configuration lacks. */
function lacking(key: string): Finding {
  return error('listeners', {
    found: `${key} is known to the database, but missing here`,
    fix: 'Add it to quittance.config.ts. Removed for good: quittance listeners forget NAME',
  })
}

function madeByMinifier(key: string): Fault {
  const name = nameIn(key)
  return {
    found: `${key} is known to the database by a name of one or two letters, as a minifier makes them`,
    fix: `Unless a listener of yours is called ${name}: name yours as docs/4-listeners.md shows, stop the processes of the older build, then run: quittance listeners forget ${name}`,
  }
}

function isShort(key: string): boolean {
  return isShortName(nameIn(key))
}

function nameIn(key: string): string {
  return key.slice(0, key.lastIndexOf('/'))
}

/** `name/type`, as the registry spells its own. */
async function knownKeys({ db }: Database, registry: ListenerRegistry): Promise<readonly string[]> {
  const known = await listKnownListeners(db, registry)
  return known.flatMap(({ name, eventTypes }) => eventTypes.map((type) => `${name}/${type}`))
}
