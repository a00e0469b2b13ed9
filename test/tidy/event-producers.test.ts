import assert from 'node:assert/strict'
import test from 'node:test'
import { eventTypes } from '../../src/events/catalogue.ts'
import { endpointEventType } from '../../src/events/endpoint-event.ts'
import { eventTypeOf, isInvoiceEventType } from '../../src/events/dedup-key.ts'
import { isSubscriptionEventType } from '../../src/events/event-data.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { codeIn, tableRows } from '../docs/markdown.ts'
import { productFiles, read, withoutComments } from './source-files.ts'

test('some code makes an event of each type', () => {
  const code = productFiles()
    .filter(({ path }) => path !== 'src/events/catalogue.ts' && !path.startsWith('src/testing/'))
    .map(({ text }) => withoutComments(text))
    .join('\n')
  const named = (type: string) => code.includes(`'${type}'`) || isSubscriptionEventType(type)
  assert.deepEqual(
    eventTypes.filter((type) => !named(type)),
    [],
  )
})

/** An outcome of each kind that leads to an event. */
const outcomes: readonly Outcome[] = [
  ...(['paid', 'failed', 'canceled'] as const).map((status): Outcome => ({
    type: 'payment',
    payment: { id: '' },
    ...(status === 'paid' ? { status, amount: 1n, currency: 'UAH' } : { status }),
  })),
  { type: 'refund', payment: { id: '' }, status: 'paid', amount: 1n, currency: 'UAH' },
  { type: 'payment_method', status: 'attached', reference: 'pm_1' },
  { type: 'payment_method', status: 'detached', reference: 'pm_1' },
  { type: 'dispute', payment: { id: '' }, reference: 'dp_1', status: 'open' },
]

test('docs/events.md says of each type what fires it', () => {
  const byOutcome = new Set(outcomes.map(eventTypeOf))
  const sourceOf = (type: (typeof eventTypes)[number]) => {
    if (isSubscriptionEventType(type)) return 'a subscription'
    if (isInvoiceEventType(type)) return 'a document'
    if (type === endpointEventType) return 'an endpoint'
    return byOutcome.has(type) ? 'an outcome' : 'a browser'
  }
  const [, table = ''] = read('docs/events.md').split('It also carries:')
  const [, ...rows] = tableRows(table.split('\n## ')[0] ?? '')
  assert.deepEqual(
    rows.map((row) => [codeIn(row[0] ?? '')[0], row.at(-1)]),
    eventTypes.map((type) => [type, sourceOf(type)]),
  )
})
