import { html } from 'hono/html'
import { eventTypes } from '../../events/catalogue.ts'
import { eventFilters, type Delivery } from '../../events/event-record.ts'
import type { Html } from '../../http/pages/layout.ts'
import { eventNoun, type ListedEvent } from '../../wire/outgoing-event.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { chosen, chosenOf, filters, pager, pageSize, type Filter } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { nounFilters, nounQuery, nounTable, type Cells } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { badge, nothing } from '../parts/values.ts'
import { sourceWords } from '../words/events.ts'

/** What listeners and endpoints get, newest first. */
export async function eventsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.events.list({
      limit: pageSize,
      ...nounQuery(url, eventFilters),
      ...given({ cursor: chosen(url, 'cursor'), type: chosenOf(url, 'type', eventTypes) }),
    }),
  )
  const empty = 'There is no such event.'
  return {
    status,
    title: 'Events',
    section: 'events',
    body: html`${filters(url, [typeChoice, ...nounFilters(visit, eventFilters)])} ${fault}
    ${fault === false && nounTable(eventNoun, data, { visit, cells, columns, empty })}
    ${pager(url, nextCursor)}`,
  }
}

const typeChoice: Filter = {
  kind: 'choice',
  name: 'type',
  label: 'Type',
  options: eventTypes.map((type) => [type, type]),
}

const columns = [
  'id',
  'type',
  'paymentId',
  'subscriptionId',
  'invoiceId',
  'source',
  'deliveries',
  'position',
  'createdAt',
]

/** What the list and the page of an event show in their own way. */
export const cells: Cells<ListedEvent> = {
  type: typeOf,
  source: ({ source }) => sourceWords[source],
  deliveries: ({ deliveries }) => deliveriesOf(deliveries),
}

export function typeOf({ type, superseded }: Pick<ListedEvent, 'type' | 'superseded'>): Html {
  return html`${shown(type)} ${superseded && badge('superseded', 'plain')}`
}

/** What of it concerns a person: that something failed, or waits. */
function deliveriesOf(deliveries: readonly Delivery[]): Html {
  if (deliveries.length === 0) return nothing
  const failed = deliveries.filter(({ state }) => state === 'failed').length
  if (failed > 0) return badge(`${failed} failed`, 'bad')
  const done = deliveries.filter(({ state }) => state === 'processed').length
  return done === deliveries.length
    ? badge(`${done} done`, 'good')
    : badge(`${deliveries.length - done} waiting`, 'warn')
}
