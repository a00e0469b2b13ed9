import { html } from 'hono/html'
import { eventTypes } from '../../events/catalogue.ts'
import type { Delivery } from '../../events/event-record.ts'
import type { Html } from '../../http/pages/layout.ts'
import { fieldError } from '../../kernel/errors.ts'
import { readUuid } from '../../kernel/uuid.ts'
import type { ListedEvent } from '../../wire/outgoing-event.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { chosen, chosenOf, filters, pager, pageSize, type Filter } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { linkTo } from '../parts/links.ts'
import { listed } from '../parts/listed.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { badge, nothing, number, time } from '../parts/values.ts'
import { sourceWords } from '../words/events.ts'

/** What listeners and endpoints get, newest first. */
export async function eventsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.events.list({
      limit: pageSize,
      ...given({
        cursor: chosen(url, 'cursor'),
        type: chosenOf(url, 'type', eventTypes),
        paymentId: chosenId(url, 'payment'),
        subscriptionId: chosenId(url, 'subscription'),
      }),
    }),
  )
  return {
    status,
    title: 'Events',
    section: 'events',
    body: html`${filters(url, fields)} ${fault} ${fault === false && rowsOf(visit, data)}
    ${pager(url, nextCursor)}`,
  }
}

const fields: readonly Filter[] = [
  {
    kind: 'choice',
    name: 'type',
    label: 'Type',
    options: eventTypes.map((type) => [type, type]),
  },
  { kind: 'text', name: 'payment', label: 'Payment: its whole id' },
  { kind: 'text', name: 'subscription', label: 'Subscription: its whole id' },
]

function chosenId(url: URL, name: string): string | undefined {
  const id = chosen(url, name)
  if (id === undefined || readUuid(id) !== undefined) return id
  throw fieldError('query_invalid', name, 'must be a whole id, of 36 characters')
}

function rowsOf(visit: Visit, events: readonly ListedEvent[]): Html {
  const now = visit.console.now()
  return table({
    caption: 'Events, newest first',
    columns: [
      'Event',
      'Type',
      'Payment',
      'Subscription',
      'Document',
      'Caused by',
      'Listeners',
      { title: 'Place in the feed', isNumber: true },
      'At',
    ],
    rows: events.map((one) => [
      linkTo(visit, 'events', one.id),
      typeOf(one),
      linkTo(visit, 'payments', one.paymentId),
      linkTo(visit, 'subscriptions', one.subscriptionId),
      linkTo(visit, 'invoices', one.invoiceId),
      sourceWords[one.source],
      deliveriesOf(one.deliveries),
      one.position === null ? nothing : number(one.position),
      time(one.createdAt, now),
    ]),
    empty: 'There is no such event.',
  })
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
