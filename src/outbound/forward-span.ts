import { inSpan, type SpanAbout } from '../kernel/spans.ts'
import { eventAttributes } from '../listeners/event-spans.ts'
import type { FeedEvent } from '../wire/outgoing-event.ts'
import type { Due } from './endpoint-window.ts'
import type { Work } from './endpoint-work.ts'
import type { Sent } from './send.ts'

interface ForwardedEvent {
  readonly due: Due
  readonly event: FeedEvent
}

/** One request that sends an event, in the trace of the call that brought it. */
export function inForwardSpan(
  { context: { spans }, endpoint }: Work,
  { due, event }: ForwardedEvent,
  request: () => Promise<Sent>,
): Promise<Sent> {
  const about = () => {
    const attributes = {
      ...eventAttributes(event),
      'quittance.endpoint.id': endpoint.id,
      'quittance.attempt': due.attempts + 1,
    }
    return { name: `forward ${event.type}`, kind: 'CLIENT', attributes } satisfies SpanAbout
  }
  return inSpan(spans?.of(due.row.webhook_call_id ?? event.id), about, async (span) => {
    const sent = await request()
    span?.set({ 'http.response.status_code': sent.status ?? undefined })
    // Not what it answered: that is the endpoint's own text.
    if (sent.result !== 'delivered') span?.failed(sent.result)
    return sent
  })
}
