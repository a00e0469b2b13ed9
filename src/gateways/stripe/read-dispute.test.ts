import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../../test/gateways/stripe/api.ts'
import {
  assertIgnored,
  event,
  intent,
  interpret,
  paymentId,
  type Fields,
} from '../../../test/gateways/stripe/events.ts'

const dispute = (fields: Fields = {}): Fields => ({
  id: 'du_1',
  object: 'dispute',
  amount: 4999,
  charge: 'ch_1',
  currency: 'uah',
  metadata: {},
  payment_intent: 'pi_1',
  status: 'needs_response',
  ...fields,
})
const outcome = {
  type: 'dispute',
  payment: { providerReference: 'pi_1' },
  reference: 'du_1',
  status: 'open',
  amount: 4999n,
  currency: 'UAH',
  live: false,
} as const
const readDispute = (fields: Fields = {}, type = 'charge.dispute.updated') =>
  interpret(event(type, dispute(fields)))

test('a dispute is open, won or lost by its status, whichever event tells it', async () => {
  const statuses = [
    ['warning_needs_response', 'open'],
    ['warning_under_review', 'open'],
    ['warning_closed', 'won'],
    ['needs_response', 'open'],
    ['under_review', 'open'],
    ['appeal_needs_response', 'open'],
    ['appeal_under_review', 'open'],
    ['won', 'won'],
    ['lost', 'lost'],
    ['prevented', 'lost'],
  ] as const
  const changes = ['created', 'updated', 'funds_withdrawn', 'funds_reinstated', 'closed']
  for (const change of changes) {
    for (const [stated, status] of statuses) {
      const byRefund = stated === 'prevented' && { byRefund: true }
      const found = await readDispute({ status: stated }, `charge.dispute.${change}`)
      assert.deepEqual(found, { ...outcome, status, ...byRefund }, stated)
    }
  }
  for (const status of ['WON', 'closed', 'toString', null]) {
    const shown = `dispute status ${status ?? 'missing'}`
    assertIgnored(await readDispute({ status }), 'no_outcome', shown)
  }
})

test('ids of both ages are a dispute’s, and others are malformed_payload', async () => {
  assert.deepEqual(await readDispute({ id: 'dp_1' }), { ...outcome, reference: 'dp_1' })
  for (const id of ['re_1', 'du-1', null]) {
    assertIgnored(await readDispute({ id }), 'malformed_payload', 'data.object.id')
  }
})

test('a dispute tells its account and mode', async () => {
  const bound = event('charge.dispute.created', dispute(), { livemode: true, account: 'acct_1' })
  const found = await interpret(bound)
  assert.deepEqual(found, { ...outcome, live: true, merchantAccount: 'acct_1' })
})

test('the disputed payment is found as that of a refund is', async () => {
  await using api = await startApi({ '/v1/payment_intents/pi_1': intent() })
  const created = event('charge.dispute.created', dispute())
  assert.deepEqual(await api.interpret(created), [{ ...outcome, payment: { id: paymentId } }])
  const old = await readDispute({ payment_intent: null })
  assertIgnored(old, 'no_outcome', 'payment of ch_1: STRIPE_SECRET_KEY is not set')
})
