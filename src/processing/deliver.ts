import type { Kysely } from 'kysely'
import { findEvent, type EventRecord } from '../database/events.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { within } from '../kernel/within.ts'
import type { QueuedListener } from '../listeners/listener.ts'
import { idempotencyKey } from '../listeners/run-listeners.ts'
import { deliveries, type LeasedDelivery } from '../queue/deliveries.ts'
import { finishRows } from '../queue/end-rows.ts'
import { isLeaseLost, leaseLost } from '../queue/leased-table.ts'
import { returnAfter } from '../queue/return-after.ts'
import type { ProcessingContext } from './context.ts'
import { dispatchDeferred, isDeferredEvent } from './deferred-events.ts'
import { failDelivery, logFailedDelivery } from './fail-attempt.ts'

/** How long a queued listener may take; it may call other services. */
const deliveryLimit: Duration = seconds(60)

/**
 * Delivers an event to its queued listener, with no transaction open, or dispatches a deferred one;
 * retried like a call. Never rejects.
 */
export async function deliver(leased: LeasedDelivery, context: ProcessingContext): Promise<void> {
  try {
    if (isDeferredEvent(leased)) await dispatchDeferred(leased, context)
    else if (isQueued(leased)) await deliverQueued(leased, context)
  } catch (error) {
    if (isLeaseLost(error)) context.log.warn({ delivery: leased.id }, lostText)
    else context.log.error({ err: error, delivery: leased.id }, 'lease left to run out')
  }
}

const lostText = 'lease lost while delivering; another worker has the delivery, or it has ended'

/** What is due to a queued listener. */
type QueuedDelivery = LeasedDelivery & { readonly event_id: string; readonly listener: string }

function isQueued(leased: LeasedDelivery): leased is QueuedDelivery {
  return leased.event_id !== null && leased.listener !== null
}

async function deliverQueued(delivery: QueuedDelivery, context: ProcessingContext): Promise<void> {
  try {
    const event = await loadEvent(context.database.db, delivery)
    const failure = await run(delivery, event, context)
    await (failure === undefined ? finish(delivery, context) : fail(delivery, failure, context))
  } catch (error) {
    if (isLeaseLost(error)) throw error
    // Only the database can fail here: what a listener throws is caught in `run`.
    await returnAfter({ ...context, error }, deliveries, delivery)
  }
}

async function finish(delivery: QueuedDelivery, { database }: ProcessingContext): Promise<void> {
  const [lost] = await finishRows(database.db, deliveries, { leases: [delivery] })
  if (lost !== undefined) throw leaseLost(lost)
}

async function fail(
  delivery: QueuedDelivery,
  { error }: Failure,
  { database, log, scrub }: ProcessingContext,
): Promise<void> {
  const failed = { error, scrub, listener: delivery.listener }
  await failDelivery(database.db, delivery, failed)
  logFailedDelivery(log, delivery, failed)
}

interface Failure {
  readonly error: unknown
}

async function run(
  delivery: QueuedDelivery,
  event: BillingEvent,
  { listeners }: ProcessingContext,
): Promise<Failure | undefined> {
  const listener = listeners.find(delivery.listener, event.type)
  if (listener === undefined) {
    const text = `listener ${delivery.listener} no longer listens to ${event.type}`
    return { error: new QuittanceError('listener_missing', text) }
  }
  const call = listener.run as QueuedListener<typeof event.type>
  const key = idempotencyKey(event.dedupKey, delivery.listener)
  try {
    await within(
      deliveryLimit,
      () => late(delivery.listener),
      async (signal) => call(event as never, { idempotencyKey: key, signal }),
    )
    return undefined
  } catch (error) {
    return { error }
  }
}

function late(listener: string): QuittanceError {
  return new QuittanceError(
    'listener_timed_out',
    `queued listener ${listener} did not end within ${deliveryLimit / 1000} s`,
    { fix: 'Make the listener faster, or split its work.' },
  )
}

async function loadEvent(db: Kysely<Tables>, delivery: QueuedDelivery): Promise<BillingEvent> {
  const record = await findEvent(db, delivery.event_id)
  if (record === undefined) throw new Error(`event ${delivery.event_id} is gone`)
  const { id, type, dedupKey, superseded, createdAt, data } = record
  const subject = await loadSubject(db, record)
  return {
    ...data,
    id,
    type,
    dedupKey,
    superseded,
    createdAt,
    ...subject,
  } as unknown as BillingEvent
}

/** As it is now: a queued listener runs later. */
async function loadSubject(db: Kysely<Tables>, { paymentId, paymentMethodId }: EventRecord) {
  if (paymentMethodId !== null) {
    return { paymentMethod: await findPaymentMethod(db, paymentMethodId) }
  }
  // Stryker disable next-line ConditionalExpression: a row without an id is not found either
  return { payment: paymentId === null ? undefined : await findPayment(db, paymentId) }
}
