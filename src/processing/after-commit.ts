import type { BillingEvent, EventSource } from '../events/catalogue.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Log } from '../kernel/log.ts'
import { within } from '../kernel/within.ts'
import { hasQueuedListener } from '../listeners/dispatch-events.ts'
import type { Dispatched } from '../listeners/run-listeners.ts'
import { awaitedBy, isMarked, type Applied, type Subject } from '../outcomes/applied.ts'
import { requeueCallsWithPayment } from '../outcomes/waiting-calls.ts'
import { webhookCalls } from '../queue/calls.ts'
import { logReturned } from '../queue/return-after.ts'
import type { ProcessingContext } from './context.ts'
import type { CallEnd, EndedCall } from './end-calls.ts'
import { noteFailedCall } from './fail-attempt.ts'
import { countEvents, countFinishedCall } from './count-work.ts'

type Context = Pick<
  ProcessingContext,
  'database' | 'listeners' | 'log' | 'numbers' | 'underWay' | 'wake' | 'onEvents'
>

const workLimit: Duration = seconds(20)

/** Where outcomes came from, for the log: a stored call, or an answer of the gateway. */
interface Origin {
  readonly id?: string
  readonly gateway?: string
  readonly cause: EventSource
}

/** What was committed: the results of the outcomes, and what became of their claims. */
export interface Committed {
  readonly applied: readonly Applied[]
  readonly dispatched: Dispatched | { readonly kind: 'failed' }
}

/** What follows a committed call. None of it can undo the call or hold up its lane. */
export async function afterCommit(
  ended: EndedCall,
  context: Context,
): Promise<Exclude<CallEnd, 'lost'> | 'left'> {
  if (ended.kind === 'failed') noteFailedCall(context, ended.call, ended)
  if (ended.kind === 'returned') {
    logReturned(context.log, webhookCalls, { row: ended.call, error: ended.error })
  }
  // Whatever became of the listeners: payments keep what was stated, and periods with them.
  if (ended.kind !== 'left') wakeForPeriods(ended.applied, context)
  if (ended.kind !== 'done') return ended.kind
  const { call, applied } = ended
  countFinishedCall(context.numbers, call, applied)
  follow({ ...call, cause: 'call' }, context, ended)
  if (awaitedBy(applied).length > 0) await lookAgain(call.id, context)
  return 'done'
}

/** The same for a report without a call. A deferred event waits for a worker. */
export function afterReport(origin: Origin, context: Context, committed: Committed): void {
  follow(origin, context, committed)
  if (committed.dispatched.kind === 'failed') context.wake()
  else wakeForPeriods(committed.applied, context)
}

/** What is decided of a period's payment may have led to events of its subscription. */
function wakeForPeriods(applied: readonly Applied[], { wake }: Pick<Context, 'wake'>): void {
  const isOfPeriod = ({ payment }: Applied) => (payment?.periodId ?? null) !== null
  if (applied.some(isOfPeriod)) wake('subscription_events')
  if (applied.some(asksForSync)) wake('subscriptions')
}

/** A provider is to be asked how a subscription stands. */
function asksForSync(applied: Applied): boolean {
  return applied.kind === 'recorded' && applied.result.type === 'subscription'
}

/** The payment that a call waits for may have been created, or paid, between our look and our commit. */
async function lookAgain(call: string, { database, log, wake }: Context): Promise<void> {
  try {
    const back = await requeueCallsWithPayment(database.db, call)
    if (back.length > 0) wake()
  } catch (error) {
    log.warn({ err: error, call }, 'could not look again; the sweeper will')
  }
}

function follow(
  origin: Origin,
  { listeners, log, numbers, underWay, wake, onEvents }: Context,
  { applied, dispatched }: Committed,
): void {
  logIgnored(origin, applied, log)
  logFlagged(origin, applied, log)
  if (dispatched.kind === 'failed') return
  const { events, afterCommit: works } = dispatched
  logDispatched(origin, { applied, events }, log)
  countEvents(numbers, events, origin.cause)
  if (events.length > 0) onEvents()
  if (events.some((event) => hasQueuedListener(listeners, event))) wake('deliveries')
  const work = runWork(origin, works, log).finally(() => underWay.delete(work))
  underWay.add(work)
}

/** In the order in which the listeners asked for it; never rejects. */
async function runWork(call: Origin, works: readonly (() => unknown)[], log: Log): Promise<void> {
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
  { applied, events }: { applied: readonly Applied[]; events: readonly BillingEvent[] },
  log: Log,
): void {
  const won = new Set(events.map(({ id }) => id))
  for (const one of applied) {
    if (one.kind !== 'claim' || !won.has(one.claim.eventId)) continue
    const { superseded, subject, type } = one.claim
    log.info({ call: call.id, gateway: call.gateway, superseded, ...shown(subject) }, type)
  }
}

function shown(subject: Subject) {
  if ('endpoint' in subject) return { endpoint: subject.endpoint.id, reason: subject.reason }
  if ('invoice' in subject) return { invoice: subject.invoice.id }
  if ('subscription' in subject) return { subscription: subject.subscription.id }
  if ('paymentMethod' in subject) return { paymentMethod: subject.paymentMethod.id }
  const { id, amount, currency } = subject.payment
  return { payment: id, amount: `${amount}`, currency }
}

/** Money that does not move as it should: no event says so. */
function logFlagged(call: Origin, applied: readonly Applied[], log: Log): void {
  for (const one of applied) {
    if (one.kind === 'ignored' || !isMarked(one)) continue
    const { type, detail } = one.kind === 'claim' ? one : one.result
    log.warn({ ...about(call, one), detail }, `${type} needs a review`)
  }
}

function about({ id: call, gateway }: Origin, { payment }: Applied) {
  return { call, gateway, payment: payment?.id }
}

/** Some reasons mean a sender at fault, or money that was not booked. */
function logIgnored(origin: Origin, applied: readonly Applied[], log: Log): void {
  const source = origin.id === undefined ? 'report' : 'callback'
  for (const one of applied) {
    if (one.kind !== 'ignored') continue
    const { reason, detail } = one.result
    const entry = { ...about(origin, one), reason, detail }
    if (reason === 'amount_mismatch') log.warn(entry, 'paid webhook amount/currency mismatch')
    else if (isMarked(one)) log.warn(entry, `${source} ignored; it needs a review`)
    // It claims another status for a paid payment: an app with the default log must see that.
    else if (reason === 'already_paid') log.warn(entry, `${source} ignored`)
    else log.info(entry, `${source} ignored`)
  }
}
