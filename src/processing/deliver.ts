import type { Kysely } from 'kysely'
import { findEvent, type EventRecord } from '../database/events.ts'
import { findPaymentMethod } from '../database/payment-methods.ts'
import { findPayment } from '../database/payments.ts'
import type { Tables } from '../database/tables.ts'
import type { BillingEvent } from '../events/catalogue.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { LeasedDelivery } from '../queue/lease.ts'
import { idempotencyKey } from '../listeners/tell-listeners.ts'
import { dispatch, isDispatch } from './dispatch.ts'
import { failDelivery, finishDelivery } from './end-delivery.ts'
import { giveBack } from '../queue/give-back.ts'
import type { QueuedListener } from '../listeners/listener.ts'
import type { Processing } from './context.ts'
import { within } from '../kernel/within.ts'

/** What a queued listener may take; it may call anybody meanwhile. */
const deliveryLimit: Duration = seconds(60)

/**
 * Tells a queued listener of its event, with no transaction open, or dispatches one that was put
 * off; retried like a call.
 */
export async function deliver(leased: LeasedDelivery, processing: Processing): Promise<void> {
  if (isDispatch(leased)) return dispatch(leased, processing)
  if (isTelling(leased)) await tellOf(leased, processing)
}

/** What is due to a queued listener. */
type Telling = LeasedDelivery & { readonly event_id: string; readonly listener: string }

function isTelling(leased: LeasedDelivery): leased is Telling {
  return leased.event_id !== null && leased.listener !== null
}

async function tellOf(delivery: Telling, processing: Processing): Promise<void> {
  const { db } = processing.database
  try {
    const event = await loadEvent(db, delivery)
    const failure = await tell(delivery, event, processing)
    if (failure === undefined) await finishDelivery(db, delivery)
    else
      await failDelivery(db, delivery, { ...processing, ...failure, listener: delivery.listener })
  } catch (error) {
    // Only the database can fail here.
    await giveBack(delivery, 'billing.deliveries', { ...processing, error })
  }
}

async function tell(
  delivery: Telling,
  event: BillingEvent,
  processing: Processing,
): Promise<{ readonly error: unknown } | undefined> {
  const listener = processing.listeners.find(delivery.listener, event.type)
  if (listener === undefined) {
    const text = `listener ${delivery.listener} no longer listens to ${event.type}`
    return { error: new QuittanceError('listener_missing', text) }
  }
  const run = listener.run as QueuedListener<typeof event.type>
  const key = idempotencyKey(event.dedupKey, delivery.listener)
  try {
    await within(
      deliveryLimit,
      () => late(delivery.listener),
      async (signal) => run(event as never, { idempotencyKey: key, signal }),
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

async function loadEvent(db: Kysely<Tables>, delivery: Telling): Promise<BillingEvent> {
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

/** As it stands now: a queued listener comes later. */
async function loadSubject(db: Kysely<Tables>, { paymentId, paymentMethodId }: EventRecord) {
  if (paymentMethodId !== null) {
    return { paymentMethod: await findPaymentMethod(db, paymentMethodId) }
  }
  return { payment: paymentId === null ? undefined : await findPayment(db, paymentId) }
}
