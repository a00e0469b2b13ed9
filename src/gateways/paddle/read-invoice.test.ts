import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  contextOf,
  event,
  interpretAll,
  renewal,
  subscriptionId,
  totals,
  transaction,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'
import { startStandIn } from '../../../test/support/stand-in.ts'

const line = (fields: Fields = {}): Fields => ({
  quantity: 2,
  product: { name: 'Coffee' },
  totals: { total: '4999' },
  ...fields,
})
const documented = (fields: Fields = {}): Fields =>
  transaction({
    invoice_number: '325-10566',
    invoice_id: 'inv_1',
    billed_at: '2026-11-20T11:59:50.123456Z',
    payments: [
      { status: 'captured', captured_at: '2026-11-20T11:59:49Z' },
      { status: 'error', captured_at: null },
    ],
    details: { totals: totals(), line_items: [line()] },
    ...fields,
  })

const told = async (action: string, entity: Fields, context = contextOf()) =>
  interpretAll(JSON.stringify(event(`transaction.${action}`, entity)), context)
async function invoiceIn(action: string, entity: Fields) {
  const outcomes = await told(action, entity)
  return outcomes.find(({ type }) => type === 'invoice')
}

const whole = {
  type: 'invoice',
  reference: transactionId,
  status: 'paid',
  number: '325-10566',
  payment: { checkoutReference: transactionId },
  amount: 4999n,
  currency: 'USD',
  lines: [{ description: 'Coffee', quantity: 2, amount: 4999n }],
  issuedAt: new Date('2026-11-20T11:59:50.123Z'),
  paidAt: new Date('2026-11-20T11:59:49.000Z'),
}

test('a numbered transaction tells of its document beside the payment, without a link', async () => {
  const [payment, invoice, ...more] = await told('completed', documented())
  assert.equal(payment?.type, 'payment')
  assert.deepEqual(invoice, whole)
  assert.deepEqual(more, [])
  const renewed = await invoiceIn('completed', {
    ...documented(),
    ...renewal(),
    ...documented({
      origin: 'subscription_recurring',
      subscription_id: subscriptionId,
    }),
  })
  assert.deepEqual(renewed, { ...whole, subscriptionReference: subscriptionId })
})

test('its status follows the transaction, and only a paid one says when', async () => {
  const { paidAt: _, ...unpaid } = whole
  for (const status of ['billed', 'past_due']) {
    const invoice = await invoiceIn('past_due', documented({ status }))
    assert.deepEqual(invoice, { ...unpaid, status: 'issued' }, status)
  }
  assert.deepEqual(await invoiceIn('canceled', documented({ status: 'canceled' })), {
    ...unpaid,
    status: 'void',
  })
  assert.deepEqual(await invoiceIn('paid', documented({ status: 'paid' })), whole)
  for (const status of ['draft', 'ready', 'unknown', null]) {
    assert.equal(await invoiceIn('canceled', documented({ status })), undefined)
  }
})

test('without a number there is no document yet', async () => {
  for (const number of [null, undefined, '', 7, ' ', 'a b', '<b>', 'x'.repeat(61), ['1']]) {
    assert.equal(await invoiceIn('completed', documented({ invoice_number: number })), undefined)
  }
})

test('lines are told if all can be read and they come to the total, else none is', async () => {
  const linesOf = async (line_items: unknown) => {
    const invoice = await invoiceIn(
      'completed',
      documented({ details: { totals: totals(), line_items } }),
    )
    assert.ok(invoice?.type === 'invoice')
    return invoice.lines
  }
  const halves = [line({ totals: { total: '2000' } }), line({ totals: { total: '2999' } })]
  assert.equal((await linesOf(halves))?.length, 2)
  const unreadable = [
    null,
    [],
    ['x'],
    [line(), line()],
    [line({ totals: { total: '4998' } })],
    [line({ quantity: 0 })],
    [line({ quantity: 1.5 })],
    [line({ product: null })],
    [line({ product: { name: '' } })],
    [line({ totals: { total: '49.99' } })],
  ]
  for (const lines of unreadable) assert.equal(await linesOf(lines), undefined)
  const [odd] = (await linesOf([line({ product: { name: `\u0000${'x'.repeat(200)}` } })])) ?? []
  assert.equal(odd?.description, `\ufffd${'x'.repeat(98)}…`)
})

test('an extra charge of a subscription has a document, too, although it pays for no payment', async () => {
  const extra = documented({ origin: 'subscription_charge', subscription_id: subscriptionId })
  const outcomes = await told('completed', extra)
  assert.deepEqual(
    outcomes.map(({ type }) => type),
    ['ignored', 'invoice'],
  )
})

test('an invoice that is sent gets its number right after, and is asked for it', async (t) => {
  const billed = documented({ status: 'billed', invoice_number: null, collection_mode: 'manual' })
  const api = await startStandIn(() => ({ body: { data: documented({ status: 'billed' }) } }))
  t.after(() => api.close())
  const context = contextOf(api.base)
  const [invoice, ...more] = await told('billed', billed, context)
  assert.ok(invoice?.type === 'invoice' && invoice.status === 'issued')
  assert.deepEqual(more, [])
  assert.equal(api.requests[0]?.target, `/transactions/${transactionId}`)
  const nothing = ['ignored no_outcome']
  const shown = async (entity: Fields, using = context) =>
    (await told('billed', entity, using)).map((one) =>
      one.type === 'ignored' ? `ignored ${one.reason}` : one.type,
    )
  // What Paddle collects by itself is completed soon, with a number.
  assert.deepEqual(await shown({ ...billed, collection_mode: 'automatic' }), nothing)
  assert.deepEqual(await shown(billed, contextOf()), nothing)
  assert.equal(api.requests.length, 1)
  assert.deepEqual(await shown(documented({ status: 'billed' }), contextOf()), ['invoice'])
})
