import { days } from '../../kernel/duration.ts'
import { path, textOf, type JsonObject } from '../body/json.ts'
import { jsonTextOf } from '../body/json-text.ts'
import { parseJson } from '../body/parse-json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { Backfill, PastEvent } from '../operations.ts'
import { replyInvalid, requirePaddleApi } from './api.ts'
import { handledEvents } from './interpret.ts'
import { isId } from './payload.ts'

/**
 * Half of what Paddle allows: events carry whole entities, and at most 4 MiB of a reply are read.
 */
const mostPerPage = '100'

/** https://developer.paddle.com/api-reference/events/list-events */
export const paddleBackfill: Backfill = {
  keptFor: days(90),
  eventIdOf(body) {
    const parsed = parseJson(body)
    const id = parsed.ok ? path(parsed.value, 'event_id') : undefined
    return isId(id, 'evt_') ? id : undefined
  },
  list: pastEvents,
}

/**
 * The list cannot begin at a time: it is read from the oldest event on, and older ones are skipped.
 */
async function* pastEvents(
  since: Date,
  context: OperationContext,
): AsyncGenerator<readonly PastEvent[]> {
  const pages = requirePaddleApi(context).list('events', {
    event_type: handledEvents.join(','),
    order_by: 'id[ASC]',
    per_page: mostPerPage,
  })
  for await (const page of pages) {
    const events = page
      .filter((event) => handledEvents.includes(textOf(event.get('event_type')) ?? ''))
      .map(pastEvent)
      .filter(({ at }) => at >= since)
    if (events.length > 0) yield events
  }
}

function pastEvent(event: JsonObject): PastEvent {
  const id = event.get('event_id')
  const at = new Date(textOf(event.get('occurred_at')) ?? '')
  if (!isId(id, 'evt_') || Number.isNaN(at.getTime())) throw replyInvalid('GET /events')
  const fields = callbackFields.map((key) => [key, event.get(key) ?? null] as const)
  return { id, at, body: jsonTextOf(new Map(fields)) }
}

/** In a callback's order; a listed event has no `notification_id`, because it was not sent. */
const callbackFields = ['data', 'event_id', 'event_type', 'occurred_at'] as const
