import type { EndpointPayload } from '../events/endpoint.ts'
import {
  outgoingEventView,
  type FeedEvent,
  type OutgoingEventJson,
} from '../wire/outgoing-event.ts'

/** Longer bodies go out thin: many receivers refuse them. */
const mostBytes = 64 * 1024

/** What is sent of an event: all of it, or its ids alone. */
export function bodyOf(
  event: FeedEvent,
  payload: EndpointPayload,
  onFault?: (error: unknown) => void,
): string {
  const view = outgoingEventView(event, onFault)
  const full = payload === 'full' ? JSON.stringify(view) : undefined
  if (full !== undefined && Buffer.byteLength(full) <= mostBytes) return full
  return JSON.stringify(thin(view))
}

/** Whoever needs more asks for it by these ids: that answer is as new as can be. */
function thin({ data, ...head }: OutgoingEventJson) {
  const subjects = Object.entries(data).flatMap(([name, value]) =>
    hasId(value) ? [[name, { id: value.id }] as const] : [],
  )
  return { ...head, data: Object.fromEntries(subjects) }
}

function hasId(value: unknown): value is { readonly id: string } {
  return typeof value === 'object' && value !== null && 'id' in value
}
