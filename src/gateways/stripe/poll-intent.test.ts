import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf } from '../../../test/gateways/stripe/api.ts'
import { intent, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  chargedPayment,
  intentId,
  savedCard,
  startOperations,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { charged, pollOf, undecided } from '../../../test/gateways/stripe/polling.ts'

test('a saved card’s charge is told by its intent, and found where it was not answered', async () => {
  await using started = await startOperations()
  started.standIn.misbehave('charge', 'cut')
  assert.equal((await failureOf(started.charge())).code, 'provider_unreachable')
  const { checkoutReference, ...ofIntent } = charged
  assert.ok(checkoutReference)
  assert.deepEqual(await started.poll(chargedPayment()), {
    outcomes: [{ ...ofIntent, status: 'paid' }],
    standing: 'paid',
    listsRefunds: true,
    checkout: { providerReference: intentId, live: false },
  })
  const again = await started.poll(chargedPayment({ providerReference: intentId }))
  assert.deepEqual(again, {
    outcomes: [{ ...ofIntent, status: 'paid' }],
    standing: 'paid',
    listsRefunds: true,
  })
})

test('a charge that its payer has to confirm is open, and one that was declined is unpaid', async () => {
  await using started = await startOperations()
  const method = { ...savedCard, providerReference: 'pm_card_authenticationRequired' }
  await started.charge({ method, initiatedBy: 'customer' })
  const waiting = await started.poll(chargedPayment())
  assert.deepEqual(waiting.outcomes, [undecided('payment_intent status requires_action')])
  assert.equal(waiting.standing, 'open')
  assert.match(waiting.checkout?.url ?? '', /^https:\/\/hooks\.stripe\.com\//)
  started.standIn.decline(paymentId)
  const declined = await started.poll(chargedPayment({ providerReference: intentId }))
  assert.partialDeepStrictEqual(declined, { outcomes: [{ status: 'failed' }], standing: 'unpaid' })
})

test('an intent of the merchant’s own is told in each state', async () => {
  const failed = { status: 'requires_payment_method', last_payment_error: { code: 'x' } }
  const cases = [
    [{ status: 'succeeded' }, 'paid', 'paid'],
    [{ status: 'canceled' }, 'canceled', 'unpaid'],
    [{ status: 'something_new' }, undefined, 'unclear'],
    [failed, 'failed', 'open'],
    [{ status: 'requires_payment_method' }, undefined, 'open'],
    [{ status: 'requires_confirmation' }, undefined, 'open'],
    [{ status: 'requires_action' }, undefined, 'open'],
    [{ status: 'processing' }, undefined, 'undecided'],
    [{ status: 'requires_capture' }, undefined, 'undecided'],
  ] as const
  for (const [fields, status, standing] of cases) {
    for (const metadata of [{}, { payment_id: paymentId }]) {
      const replies = {
        '/v1/payment_intents/pi_1': intent({ ...fields, livemode: false, metadata }),
        '/v1/refunds?payment_intent=pi_1&limit=100': listOf([]),
      }
      const reply = await pollOf(replies, { providerReference: 'pi_1' })
      const [outcome] = reply.outcomes
      assert.equal(reply.standing, standing, fields.status)
      assert.equal(reply.listsRefunds, status === 'paid')
      if (status === undefined) assert.partialDeepStrictEqual(outcome, { reason: 'no_outcome' })
      else
        assert.partialDeepStrictEqual(outcome, { status, payment: { id: paymentId }, live: false })
    }
  }
})
