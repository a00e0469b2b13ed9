import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { listOf } from '../../../test/gateways/stripe/api.ts'
import { event, otherId, paymentId, type Fields } from '../../../test/gateways/stripe/events.ts'
import { startOperations } from '../../../test/gateways/stripe/operations.ts'
import { payments, pollOf } from '../../../test/gateways/stripe/polling.ts'
import { stripe } from './index.ts'

const invoice = (fields: Fields = {}): Fields => ({
  id: 'in_1',
  object: 'invoice',
  amount_due: 4999,
  amount_paid: 4999,
  attempt_count: 1,
  billing_reason: 'subscription_cycle',
  currency: 'uah',
  livemode: false,
  parent: { subscription_details: { metadata: { payment_id: otherId }, subscription: 'sub_1' } },
  status: 'paid',
  ...fields,
})

test('a renewal is told by its invoice, as its callback tells it, with all its refunds', async () => {
  const refund = { id: 're_1', object: 'refund', amount: 99, currency: 'uah', status: 'succeeded' }
  const replies = {
    '/v1/invoices/in_1': invoice(),
    '/v1/invoice_payments?invoice=in_1&status=paid&limit=100': payments('pi_1', 'pi_2'),
    '/v1/refunds?payment_intent=pi_1&limit=100': listOf([]),
    '/v1/refunds?payment_intent=pi_2&limit=100': listOf([{ ...refund, payment_intent: 'pi_2' }]),
  }
  const reply = await pollOf(replies, { providerReference: 'in_1' })
  const body = Buffer.from(JSON.stringify(event('invoice.paid', invoice())))
  await using started = await startOperations()
  const [told] = await stripe.interpret(parseJsonBody(body), started.context())
  assert.deepEqual(reply.outcomes[0], told)
  assert.partialDeepStrictEqual(reply, {
    outcomes: [
      { type: 'payment', status: 'paid', renews: { id: otherId } },
      { type: 'refund', payment: { id: paymentId }, refundReference: 're_1', amount: 99n },
    ],
    standing: 'paid',
    listsRefunds: true,
  })
})

test('an invoice that is not paid is told as far as it is decided', async () => {
  const cases = [
    [{ status: 'draft' }, undefined, 'open'],
    [{ status: 'open', attempt_count: 0 }, undefined, 'open'],
    [{ status: 'open', attempt_count: 1 }, 'failed', 'open'],
    [{ status: 'void' }, undefined, 'unpaid'],
    [{ status: 'uncollectible' }, undefined, 'open'],
    [{ status: 'something_new' }, undefined, 'unclear'],
  ] as const
  for (const [fields, status, standing] of cases) {
    const replies = {
      '/v1/invoices/in_1': invoice(fields),
      '/v1/invoice_payments?invoice=in_1&limit=100': listOf([]),
    }
    const reply = await pollOf(replies, { providerReference: 'in_1' })
    const expected = status === undefined ? { reason: 'no_outcome' } : { status }
    assert.partialDeepStrictEqual(reply.outcomes, [expected], JSON.stringify(fields))
    assert.equal(reply.standing, standing)
    assert.equal(reply.listsRefunds, false)
  }
})

test('the refunds of an invoice that was paid in another way too are not all known', async () => {
  const other = { id: 'inpay_9', status: 'paid', payment: { type: 'charge', charge: 'ch_1' } }
  const replies = {
    '/v1/invoices/in_1': invoice(),
    '/v1/invoice_payments?invoice=in_1&status=paid&limit=100': listOf([other]),
  }
  assert.equal((await pollOf(replies, { providerReference: 'in_1' })).listsRefunds, false)
})
