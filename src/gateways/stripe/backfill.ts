import { days } from '../../kernel/duration.ts'
import { numberTextOf, path, type JsonObject } from '../body/json.ts'
import { jsonTextOf } from '../body/json-text.ts'
import { parseJson } from '../body/parse-json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { Backfill, PastEvent } from '../operations.ts'
import { openClient } from './api.ts'
import { handledEvents } from './interpret.ts'
import { isId } from './payload.ts'
import { notAskedFor } from './api-change.ts'

/** Stripe lists events of the last 30 days. https://docs.stripe.com/api/events/list */
export const backfill: Backfill = {
  keptFor: days(30),
  eventIdOf(body) {
    const parsed = parseJson(body)
    const id = parsed.ok ? path(parsed.value, 'id') : undefined
    return isId(id, 'evt_') ? id : undefined
  },
  list: listEvents,
}

const mostTypes = 20
/** Events carry whole objects: this many of 100 kB each fit into the longest reply that is read. */
const mostPerPage = '40'

/** Newest first within each run; no type is in two runs, and so neither is an event. */
async function* listEvents(
  since: Date,
  context: OperationContext,
): AsyncGenerator<readonly PastEvent[]> {
  const client = openClient({ live: undefined, account: undefined }, context)
  for (let from = 0; from < handledEvents.length; from += mostTypes) {
    const types = handledEvents.slice(from, from + mostTypes)
    const pages = client.pages('v1/events', {
      limit: mostPerPage,
      'created[gte]': Math.floor(since.getTime() / 1000).toString(),
      ...Object.fromEntries(types.map((type, index) => [`types[${index}]`, type])),
    })
    for await (const page of pages) {
      if (page.length > 0) yield page.map(toPastEvent)
    }
  }
}

function toPastEvent(event: JsonObject): PastEvent {
  const id = event.get('id')
  const created = Number(numberTextOf(event.get('created')))
  if (!isId(id, 'evt_') || !Number.isSafeInteger(created)) throw notAskedFor('GET /v1/events')
  return { id, at: new Date(created * 1000), body: jsonTextOf(event) }
}
