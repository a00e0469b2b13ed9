import type { Database } from '../../database/connect.ts'
import { readInOrder } from '../../database/read-in-order.ts'
import { countWorkers } from '../../database/workers.ts'
import { listKnownListeners } from '../../listeners/known-listeners.ts'
import { isShortName, shownTypes, type ListenerRegistry } from '../../listeners/listeners.ts'
import { waitingCalls } from '../../health/sources.ts'
import { atRest, whyUnread } from './open-for-diagnosis.ts'
import type { Installation } from './installation.ts'
import { error, ok, skipped, thrown, warning, type Fault, type Finding } from './finding.ts'

/**
 * Tells whether a worker runs, what will be retried, and whether this process has the listeners that
 * the database knows.
 */
export async function checkWork(installation: Installation): Promise<readonly Finding[]> {
  const { database: state } = installation
  const why = await whyUnread(state)
  const worker = await checkWorker(installation, why)
  if (state.kind === 'closed' || why !== undefined) {
    const reason = why ?? ''
    return [worker, skipped('retries', reason), ...(await checkListeners(installation, reason))]
  }
  const { database } = state
  return [worker, await checkRetries(database), ...(await checkListeners(installation, database))]
}

async function checkRetries(database: Database): Promise<Finding> {
  const waiting = await readInOrder(database, waitingCalls)
  const retried = waiting.reduce((sum, one) => sum + one.retried, 0)
  if (retried === 0) return ok('retries', 'none')
  return warning('retries', {
    found: `${retried} failed, or wait for a provider, and will be retried`,
    fix: 'They are retried automatically. See why: quittance calls list --state pending',
  })
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
