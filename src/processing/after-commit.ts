import type { Database } from '../database/connect.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import type { LeasedCall } from '../queue/lease.ts'
import type { Applied, Subject } from '../outcomes/applied.ts'
import { requeueSettleableCalls } from '../outcomes/awaiting.ts'
import { within } from '../kernel/within.ts'
import { hasQueuedListener, type Dispatching, type Told } from '../listeners/tell-listeners.ts'

interface Surroundings {
  readonly database: Database
  readonly log: Log
  /** Work after commits that has not ended yet. */
  readonly underWay: Set<Promise<void>>
  onCalls(): void
  onDeliveries(): void
}

const workLimit: Duration = seconds(20)

export interface Committed {
  readonly applied: readonly Applied[]
  /** Ids of the events that are new. */
  readonly won: ReadonlySet<string>
  /** Deliveries to queued listeners were written. */
  readonly deliveries: boolean
  /** What listeners asked for. */
  readonly afterCommit: readonly (() => unknown)[]
}

/** Where outcomes came from, for the log: a stored call, or whatever a gateway was asked. */
interface Origin {
  readonly id?: string
  readonly gateway: string | undefined
}

/** What follows once a call is committed; nothing of it can undo the call, or hold up its lane. */
export async function concludeCall(
  call: LeasedCall,
  surroundings: Surroundings,
  committed: Committed,
): Promise<void> {
  const { log, database } = surroundings
  const { applied } = committed
  conclude(call, surroundings, committed)
  if (applied.some((one) => one.kind === 'ignored' && one.awaiting.length > 0)) {
    // The payment may have been created between our look and our commit.
    const look = requeueSettleableCalls(database.db, call.id)
    const back = await look.catch((error: unknown) => {
      log.warn({ err: error, call: call.id }, 'could not look again; the sweeper will')
      return []
    })
    if (back.length > 0) surroundings.onCalls()
  }
}

/** The same for what came without a call; what failed is put off, and its row waits for a worker. */
export function concludeReport(
  origin: Origin,
  surroundings: Surroundings & Pick<Dispatching, 'listeners'>,
  { applied, told }: { readonly applied: readonly Applied[]; readonly told: Told },
): void {
  const events = told.kind === 'told' ? told.events : []
  conclude(origin, surroundings, {
    applied,
    won: new Set(events.map(({ id }) => id)),
    deliveries:
      told.kind === 'failed' ||
      events.some((event) => hasQueuedListener(surroundings.listeners, event)),
    afterCommit: told.kind === 'told' ? told.afterCommit : [],
  })
}

function conclude(
  origin: Origin,
  { log, underWay, onDeliveries }: Surroundings,
  { applied, won, deliveries, afterCommit }: Committed,
): void {
  logIgnored(origin, applied, log)
  logFlagged(origin, applied, log)
  logDispatched(origin, { applied, won }, log)
  if (deliveries) onDeliveries()
  if (afterCommit.length === 0) return
  const work = runWork(origin, afterCommit, log).finally(() => underWay.delete(work))
  underWay.add(work)
}

/** In the order in which the listeners asked for it; never rejects. */
async function runWork(call: Origin, works: Committed['afterCommit'], log: Log): Promise<void> {
  for (const work of works) {
    try {
      await within(workLimit, late, async () => work())
    } catch (error) {
      log.error({ err: error, call: call.id }, 'work after the commit failed')
    }
  }
}

const late = () => new Error(`work after the commit took over ${workLimit / 1000} s`)

function logDispatched(
  call: Origin,
  { applied, won }: Pick<Committed, 'applied' | 'won'>,
  log: Log,
): void {
  for (const one of applied) {
    if (one.kind !== 'claim' || !won.has(one.claim.eventId)) continue
    const { superseded, subject, type } = one.claim
    log.info({ call: call.id, gateway: call.gateway, superseded, ...shown(subject) }, type)
  }
}

function shown(subject: Subject) {
  if ('paymentMethod' in subject) return { paymentMethod: subject.paymentMethod.id }
  const { id, amount, currency } = subject.payment
  return { payment: id, amount: `${amount}`, currency }
}

/** Money that goes another way than it should: nobody is told by an event. */
function logFlagged(call: Origin, applied: readonly Applied[], log: Log): void {
  for (const one of applied) {
    if (one.kind === 'ignored' || !one.review) continue
    const entry = { call: call.id, gateway: call.gateway, payment: one.payment?.id }
    if (one.kind === 'claim')
      log.warn({ ...entry, detail: one.detail }, `${one.type} needs a review`)
    else log.warn({ ...entry, detail: one.result.detail }, `${one.result.type} needs a review`)
  }
}

/** Reasons that mean somebody sent what he should not, or money that nobody booked. */
function logIgnored(call: Origin, applied: readonly Applied[], log: Log): void {
  for (const one of applied) {
    if (one.kind !== 'ignored') continue
    const { reason, detail } = one.result
    const entry = { call: call.id, gateway: call.gateway, payment: one.payment?.id, reason, detail }
    if (reason === 'amount_mismatch') log.warn(entry, 'paid webhook amount/currency mismatch')
    else if (one.review) log.warn(entry, 'callback ignored; it needs a review')
    // It claims another status of a paid payment: an app with the default log is to see that.
    else if (reason === 'already_paid') log.warn(entry, 'callback ignored')
    else log.info(entry, 'callback ignored')
  }
}
