import assert from 'node:assert/strict'
import test from 'node:test'
import { eventTypes, eventTypesWithoutProducer } from '../../src/events/catalogue.ts'
import { eventTypeOf, isInvoiceEventType } from '../../src/events/dedup-key.ts'
import { isSubscriptionEventType } from '../../src/events/event-data.ts'
import type { Outcome } from '../../src/payments/outcome.ts'
import { codeIn, tableRows } from '../docs/markdown.ts'
import { productFiles, read, withoutComments } from './source-files.ts'

const catalogue = 'src/events/catalogue.ts'
const silent: ReadonlySet<string> = new Set(eventTypesWithoutProducer)

test('the list of types without a producer has exactly those that no code makes an event of', () => {
  const code = productFiles()
    .filter(({ path }) => path !== catalogue && !path.startsWith('src/testing/'))
    .map(({ text }) => withoutComments(text))
    .join('\n')
  const named = (type: string) => code.includes(`'${type}'`) || isSubscriptionEventType(type)
  const unnamed = eventTypes.filter((type) => !named(type))
  assert.deepEqual([...eventTypesWithoutProducer], unnamed)
})

test('the doc comment of a type says where nothing fires it yet', () => {
  const [, body = ''] = read(catalogue).split('export interface EventPayloads {')
  const [members = ''] = body.split('\n}\n')
  const said = Array.from(members.matchAll(/\/\*\*(.*?)\*\/\s*(\w+):/gs)).map(
    ([, comment = '', type = '']) => [type, comment.includes('Nothing fires it yet.')],
  )
  assert.deepEqual(
    said,
    eventTypes.map((type) => [type, silent.has(type)]),
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
    if (silent.has(type)) return 'nothing yet'
    if (isSubscriptionEventType(type)) return 'a subscription'
    if (isInvoiceEventType(type)) return 'a document'
    return byOutcome.has(type) ? 'an outcome' : 'a browser'
  }
  const [, table = ''] = read('docs/events.md').split('It also carries:')
  const [, ...rows] = tableRows(table.split('\n## ')[0] ?? '')
  assert.deepEqual(
    rows.map((row) => [codeIn(row[0] ?? '')[0], row.at(-1)]),
    eventTypes.map((type) => [type, sourceOf(type)]),
  )
})
