import type { BillingEvent } from '../events/catalogue.ts'
import { batched } from '../kernel/batched.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { within } from '../kernel/within.ts'
import { idempotencyKey } from '../listeners/run-listeners.ts'
import { deliveries, type LeasedDelivery } from '../queue/deliveries.ts'
import { finishRows } from '../leases/queue-rows.ts'
import { inSpan, type SpanAbout } from '../kernel/spans.ts'
import { eventAttributes } from '../listeners/event-spans.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import { isLeaseLost, leaseLost, type Lease } from '../leases/leased-table.ts'
import { returnAfter } from '../queue/return-after.ts'
import type { ProcessingContext } from './context.ts'
import { countDelivery } from './count-work.ts'
import { failDelivery, noteFailedDelivery, noteUnended } from './fail-attempt.ts'
import { loadEvents, type FoundEvent } from './load-events.ts'

/** How long a queued listener may take; it may call other services. */
const deliveryLimit: Duration = seconds(60)

/** Events and deliveries in one statement, at most. */
const mostTogether = 200

/** Delivers one; never rejects. */
export type Deliver = (delivery: LeasedDelivery) => Promise<void>

/**
 * Delivers events to their queued listeners, with no transaction open; retried like calls. What is
 * under way at the same time is loaded and finished together.
 */
export function createDeliver(context: ProcessingContext): Deliver {
  const { database, random } = context
  const { db } = database
  const together: Together = {
    load: batched(mostTogether, (ids) => loadEvents(db, ids, context)),
    finish: batched(mostTogether, async (leases) => {
      // Otherwise the listeners of all of them would run again, and what they did is done.
      const lost = new Set(await retryPassing(() => finishRows(db, deliveries, { leases }), random))
      return leases.map((lease) => !lost.has(lease))
    }),
  }
  return async (delivery) => {
    try {
      await deliver(delivery, context, together)
    } catch (error) {
      noteUnended(context, delivery, error)
    }
  }
}

interface Together {
  load(eventId: string): Promise<FoundEvent | undefined>
  /** False: the lease is lost. */
  finish(lease: Lease): Promise<boolean>
}

async function deliver(
  delivery: LeasedDelivery,
  context: ProcessingContext,
  { load, finish }: Together,
): Promise<void> {
  try {
    const found = await load(delivery.event_id)
    if (found === undefined) throw new Error(`event ${delivery.event_id} is gone`)
    const parent = context.spans?.of(found.callId ?? delivery.event_id)
    await inSpan(
      parent,
      () => aboutDelivery(delivery, found),
      async (span) => {
        const failure = 'error' in found ? found : await run(delivery, found.event, context)
        if (failure !== undefined) span?.threw(failure.error)
        if (failure !== undefined) await fail(delivery, failure, context)
        else if (!(await finish(delivery))) throw leaseLost(delivery)
        else countDelivery(context.numbers, delivery, 'delivered')
      },
    )
  } catch (error) {
    if (isLeaseLost(error)) throw error
    // Only the database can fail here: what a listener throws is caught in `run`.
    await returnAfter({ ...context, error }, deliveries, delivery)
  }
}

function aboutDelivery({ listener, attempts, event_id: id }: LeasedDelivery, found: FoundEvent) {
  const ofEvent = 'event' in found ? eventAttributes(found.event) : { 'quittance.event.id': id }
  const attributes = {
    ...ofEvent,
    'quittance.listener': listener,
    'quittance.attempt': attempts + 1,
  }
  return { name: `delivery ${listener}`, kind: 'CONSUMER', attributes } satisfies SpanAbout
}

async function fail(
  delivery: LeasedDelivery,
  { error }: Failure,
  { database, log, newId, numbers, scrub }: ProcessingContext,
): Promise<void> {
  const failed = { error, newId, scrub, listener: delivery.listener }
  await database.transaction(({ db }) => failDelivery(db, delivery, failed))
  noteFailedDelivery({ log, numbers }, delivery, failed)
}

interface Failure {
  readonly error: unknown
}

async function run(
  delivery: LeasedDelivery,
  event: BillingEvent,
  { listeners }: ProcessingContext,
): Promise<Failure | undefined> {
  const listener = listeners.find(delivery.listener, event.type)
  if (listener === undefined) {
    const text = `listener ${delivery.listener} no longer listens to ${event.type}`
    return { error: new QuittanceError('listener_missing', text) }
  }
  const call = listener.run as (event: BillingEvent, context: object) => unknown
  const given = {
    idempotencyKey: idempotencyKey(event.dedupKey, delivery.listener),
    billing: listeners.billing,
  }
  try {
    await within(
      deliveryLimit,
      () => late(delivery.listener),
      async (signal) => call(event, { ...given, signal }),
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
