import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startStandIn } from '../../../test/support/stand-in.ts'
import { isQuittanceError } from '../../kernel/errors.ts'
import {
  adjustment,
  contextOf,
  event,
  paidOutcome,
  renewal,
  renewedOutcome,
  transaction,
  transactionId,
  type Fields,
} from '../../../test/gateways/paddle/events.ts'
import { paddle } from './index.ts'

type Answer = Parameters<typeof startStandIn>[0]

/** What the adjustment's event states while the API answers so, and what that was asked. */
async function told(t: TestContext, answer: Answer, fields: Fields = {}) {
  const api = await startStandIn(answer)
  t.after(() => api.close())
  const text = JSON.stringify(event('adjustment.updated', adjustment(fields)))
  const payload = paddle.parse({ headers: {}, body: Buffer.from(text) })
  const outcomes = await paddle.interpret(payload, contextOf(api.base))
  return { outcomes, asked: api.requests.map(({ target }) => target) }
}

const entity = (data: Fields) => () => ({ body: { data, meta: { request_id: 'x' } } })
const typesOf = ({ outcomes }: Awaited<ReturnType<typeof told>>) => outcomes.map(({ type }) => type)

test('a refund that is done tells first that its transaction was paid', async (t) => {
  const found = await told(t, entity(transaction()))
  assert.deepEqual(found.outcomes[0], paidOutcome)
  assert.deepEqual(typesOf(found), ['payment', 'refund'])
  assert.deepEqual(found.asked, [`/transactions/${transactionId}`])
  const custom_data = { payment_id: renewedOutcome.claimed.id }
  const renewed = await told(t, entity(renewal({ custom_data })))
  assert.deepEqual(renewed.outcomes[0], renewedOutcome)
})

test('what is not paid, or not a payment of ours, tells the refund alone', async (t) => {
  for (const data of [
    transaction({ status: 'ready' }),
    transaction({ origin: 'subscription_charge' }),
  ]) {
    assert.deepEqual(typesOf(await told(t, entity(data))), ['refund'])
  }
  assert.deepEqual(typesOf(await told(t, () => undefined)), ['refund'])
})

test('nothing is looked up for what has not gone back, nor for a dispute', async (t) => {
  for (const fields of [{ status: 'pending_approval' }, { status: 'rejected' }]) {
    const { outcomes, asked } = await told(t, entity(transaction()), fields)
    assert.deepEqual([outcomes.length, asked], [1, []])
  }
  const dispute = await told(t, entity(transaction()), { action: 'chargeback' })
  assert.deepEqual([typesOf(dispute), dispute.asked], [['dispute'], []])
})

test('while Paddle cannot be reached, the refund waits; where it says no, it counts alone', async (t) => {
  await assert.rejects(
    told(t, () => ({ status: 503, body: {} })),
    (error) => isQuittanceError(error) && error.code === 'provider_unreachable',
  )
  const refused = await told(t, () => ({ status: 403, body: {} }))
  assert.deepEqual(typesOf(refused), ['refund'])
})
