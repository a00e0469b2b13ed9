import type { BillingEvent } from '../events/catalogue.ts'
import type { SpanAbout, SpanParent, Spans } from '../kernel/spans.ts'
import { gatewayOf } from '../wire/outgoing-event.ts'
import type { ClaimSource } from './claim-events.ts'

/** Below what dispatches it; else in the trace of its call, or in its own if no call brought it. */
export function parentOfEvent(
  spans: Spans | undefined,
  { span, callId }: ClaimSource,
  { id }: BillingEvent,
): SpanParent | undefined {
  return span ?? spans?.of(callId ?? id)
}

/** What spans say of an event. */
export function eventAttributes(event: BillingEvent) {
  const payment = 'payment' in event ? event.payment : undefined
  return {
    'quittance.event.type': event.type,
    'quittance.event.id': event.id,
    'quittance.payment.id': payment?.id,
    'quittance.gateway': gatewayOf(event),
  }
}

/** Of an event while its listeners in the transaction run. */
export function aboutDispatch(event: BillingEvent, { cause }: ClaimSource): SpanAbout {
  const attributes = { ...eventAttributes(event), 'quittance.source': cause }
  return { name: `dispatch ${event.type}`, kind: 'PRODUCER', attributes }
}

export function aboutListener(event: BillingEvent, listener: string): SpanAbout {
  const attributes = { ...eventAttributes(event), 'quittance.listener': listener }
  return { name: `listener ${listener}`, kind: 'INTERNAL', attributes }
}

/** Of events that no listener in the transaction hears. */
export async function markDispatched(
  spans: Spans,
  source: ClaimSource,
  events: readonly BillingEvent[],
): Promise<void> {
  for (const event of events) {
    await parentOfEvent(spans, source, event)?.run(aboutDispatch(event, source), async () => {})
  }
}
