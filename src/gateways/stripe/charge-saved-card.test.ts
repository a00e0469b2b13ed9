import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startApi } from '../../../test/gateways/stripe/api.ts'
import { otherId, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  chargedPayment,
  chargeOf,
  intentId,
  refundId,
  returnUrl,
  savedCard,
  sessionId,
  startOperations,
  startPaid,
  paymentOf,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf, now } from '../../../test/providers/kit.ts'
import { days } from '../../kernel/duration.ts'
import { namedUuid } from '../../kernel/named-uuid.ts'
import type { Payment } from '../../payments/payment.ts'
import { declineKindOf } from '../decline-kind.ts'
import { stripe } from './index.ts'

test('a saved card is charged by one request with exactly these fields', async () => {
  await using started = await startOperations()
  const reply = await started.charge()
  assert.deepEqual(reply, {
    outcomes: [
      {
        type: 'payment',
        payment: { id: paymentId },
        status: 'paid',
        amount: 4999n,
        currency: 'USD',
        live: false,
        providerReference: intentId,
      },
    ],
    providerReference: intentId,
    live: false,
  })
  const fields = {
    amount: '4999',
    currency: 'usd',
    customer: 'cus_1',
    payment_method: 'pm_1',
    confirm: 'true',
    description: `Payment ${paymentId.slice(-8)}`,
    return_url: returnUrl,
    'metadata[payment_id]': paymentId,
  }
  assert.deepEqual(started.changes(), [['/v1/payment_intents', { ...fields, off_session: 'true' }]])
  const [asked] = started.standIn.asked
  assert.equal(asked?.request.headers['idempotency-key'], `charge:${paymentId}`)
  assert.equal(started.standIn.charges(paymentId), 1)
  await using byCustomer = await startOperations()
  await byCustomer.charge({ initiatedBy: 'customer' })
  assert.deepEqual(byCustomer.changes(), [['/v1/payment_intents', fields]])
})

test('a period that was charged before our database was restored is not charged again', async () => {
  const begin = now.getTime()
  const payment = chargedPayment({
    id: namedUuid(new Date(begin), 'a period'),
    periodId: otherId,
  })
  let passed = 0
  const time = () => new Date(begin + passed)
  await using started = await startOperations({ now: time })
  const { chargeSavedCard } = stripe
  assert.ok(chargeSavedCard)
  const charge = (fields: Partial<Payment> = {}) =>
    chargeSavedCard(chargeOf(null, { payment: { ...payment, ...fields } }), {
      ...started.context(),
      now: time(),
    })
  const looked = () => started.standIn.asked.filter(({ request }) => request.method === 'GET')
  const first = await charge()
  assert.equal(looked().length, 0)
  // Stripe has forgotten the key by then.
  passed = days(3)
  assert.deepEqual(await charge({ description: 'other words' }), first)
  assert.equal(started.standIn.charges(payment.id), 1)
  assert.equal(started.changes().length, 1)
  // So does a poll, if nobody heard the answer to that look.
  const { poll } = stripe
  const asked = { payment, handedAt: time() }
  assert.partialDeepStrictEqual(await poll?.(asked, started.context()), { standing: 'paid' })
  // Another attempt is another charge, and so is a payment of no period.
  const other = { id: namedUuid(new Date(begin), 'a period/2') }
  await charge(other)
  assert.equal(started.standIn.charges(other.id), 1)
  const before = looked().length
  await charge({ id: otherId, periodId: null })
  assert.equal(looked().length, before)
})

test('a charge of the official package is the same request', async () => {
  await using started = await startOperations()
  await started.charge()
  await started.official.paymentIntents.create(
    {
      amount: 4999,
      currency: 'usd',
      customer: 'cus_1',
      payment_method: 'pm_1',
      confirm: true,
      description: `Payment ${paymentId.slice(-8)}`,
      return_url: returnUrl,
      metadata: { payment_id: paymentId },
      off_session: true,
    },
    { idempotencyKey: `charge:${paymentId}` },
  )
  const [ours, official] = started.changes()
  assert.deepEqual(ours, official)
  assert.equal(started.standIn.charges(paymentId), 1)
})

test('the card that a checkout saved is charged for its customer, and for no other', async () => {
  await using started = await startPaid()
  const { outcomes } = await started.poll(paymentOf({ checkoutReference: sessionId }))
  const card = outcomes.find(({ type }) => type === 'payment_method')
  assert.ok(card?.type === 'payment_method')
  const method = {
    ...savedCard,
    providerReference: card.reference,
    customerReference: card.customerReference ?? null,
  }
  const payment = chargedPayment({ id: otherId })
  assert.partialDeepStrictEqual(await started.charge({ payment, method }), {
    outcomes: [{ status: 'paid', payment: { id: otherId } }],
  })
  const ofAnother = { ...method, customerReference: 'cus_another' }
  const again = chargedPayment({ id: refundId })
  const charge = started.charge({ payment: again, method: ofAnother })
  assert.equal((await failureOf(charge)).code, 'provider_refused')
})

test('a declined card is an outcome, bound to the intent that the error names', async () => {
  const cases = [
    ['pm_card_chargeDeclined', 'merchant', 'card_declined'],
    ['pm_card_chargeDeclined', 'customer', 'card_declined'],
    ['pm_card_authenticationRequired', 'merchant', 'authentication_required'],
  ] as const
  for (const [providerReference, initiatedBy, declineCode] of cases) {
    await using started = await startOperations()
    const method = { ...savedCard, providerReference }
    assert.deepEqual(await started.charge({ method, initiatedBy }), {
      outcomes: [
        {
          type: 'payment',
          payment: { id: paymentId },
          status: 'failed',
          amount: 4999n,
          currency: 'USD',
          live: false,
          providerReference: intentId,
          declineCode,
        },
      ],
      providerReference: intentId,
      live: false,
    })
    assert.equal(started.standIn.charges(paymentId), 0)
  }
})

test('what was declined has failed, whatever its intent says besides', async () => {
  await using started = await startOperations()
  const payment_intent = {
    id: 'pi_1',
    object: 'payment_intent',
    amount: 4999,
    currency: 'usd',
    metadata: { payment_id: paymentId },
    status: 'requires_payment_method',
  }
  const error = { type: 'card_error', code: 'expired_card', payment_intent }
  await using api = await startApi({
    '/v1/payment_intents': () => ({ status: 402, body: { error } }),
  })
  assert.partialDeepStrictEqual(await started.charge({}, { api_base: api.standIn.base }), {
    outcomes: [{ status: 'failed', providerReference: 'pi_1', declineCode: 'expired_card' }],
    providerReference: 'pi_1',
  })
})

test('a card that is declined before there is an intent has failed, too', async () => {
  const error = { type: 'card_error', code: 'card_declined', decline_code: 'stolen_card' }
  await using api = await startApi({
    '/v1/payment_intents': () => ({ status: 402, body: { error } }),
  })
  await using started = await startOperations()
  const failed = { type: 'payment', payment: { id: paymentId }, status: 'failed' }
  assert.deepEqual(await started.charge({}, { api_base: api.standIn.base }), {
    outcomes: [{ ...failed, declineCode: 'stolen_card' }],
  })
})

test('the network’s advice not to try again counts more than a code that leaves it open', async () => {
  const advice_code = 'do_not_try_again'
  const cases = [
    [{ decline_code: 'generic_decline', advice_code }, 'do_not_try_again', 'hard'],
    [{ advice_code }, 'do_not_try_again', 'hard'],
    [{ decline_code: 'lost_card', advice_code }, 'lost_card', 'hard'],
    [
      { decline_code: 'generic_decline', advice_code: 'try_again_later' },
      'generic_decline',
      'soft',
    ],
    [{ decline_code: 'authentication_required' }, 'authentication_required', 'authentication'],
    [{}, 'card_declined', 'soft'],
  ] as const
  for (const [more, code, kind] of cases) {
    const error = { type: 'card_error', code: 'card_declined', ...more }
    await using api = await startApi({
      '/v1/payment_intents': () => ({ status: 402, body: { error } }),
    })
    await using started = await startOperations()
    const [outcome] = (await started.charge({}, { api_base: api.standIn.base })).outcomes
    assert.ok(outcome?.type === 'payment')
    assert.deepEqual([outcome.declineCode, declineKindOf(stripe, code)], [code, kind])
  }
})

test('a payer who is there is sent to confirm, and the payment is paid afterwards', async () => {
  await using started = await startOperations()
  const method = { ...savedCard, providerReference: 'pm_card_authenticationRequired' }
  const reply = await started.charge({ method, initiatedBy: 'customer' })
  assert.deepEqual(reply, {
    outcomes: [
      {
        type: 'ignored',
        reason: 'no_outcome',
        detail: 'payment_intent status requires_action',
      },
    ],
    providerReference: intentId,
    redirectUrl: `https://hooks.stripe.com/3d_secure_2/${intentId}`,
    live: false,
  })
  assert.equal(started.standIn.charges(paymentId), 0)
  started.standIn.pay(paymentId)
  const known = chargedPayment({ providerReference: intentId })
  assert.partialDeepStrictEqual(await started.poll(known), { outcomes: [{ status: 'paid' }] })
  assert.equal(started.standIn.charges(paymentId), 1)
})

test('a charge that waits for its payer can be closed', async () => {
  await using started = await startOperations()
  const method = { ...savedCard, providerReference: 'pm_card_authenticationRequired' }
  await started.charge({ method, initiatedBy: 'customer' })
  started.standIn.misbehave('close', 'refuse')
  const refused = await failureOf(started.closeCheckout(chargedPayment()))
  assert.equal(refused.code, 'provider_refused')
  assert.equal(await started.closeCheckout(chargedPayment()), 'closed')
  const known = chargedPayment({ providerReference: intentId })
  assert.equal(await started.closeCheckout(known), 'not_open')
  assert.partialDeepStrictEqual(await started.poll(known), {
    outcomes: [{ status: 'canceled' }],
    standing: 'unpaid',
  })
})

test('a reply about another charge is refused, and only a web address is followed', async () => {
  const { chargeSavedCard } = stripe
  assert.ok(chargeSavedCard)
  await using started = await startOperations()
  const metadata = { payment_id: paymentId }
  const right = { id: 'pi_1', object: 'payment_intent', status: 'requires_action', metadata }
  const ask = async (object: object) => {
    await using api = await startApi({ '/v1/payment_intents': object })
    return await chargeSavedCard(chargeOf(null), started.context({ api_base: api.standIn.base }))
  }
  for (const wrong of [{ id: 'ch_1' }, { metadata: {} }, { metadata: { payment_id: otherId } }]) {
    assert.equal((await failureOf(ask({ ...right, ...wrong }))).code, 'provider_reply_invalid')
  }
  const next_action = { redirect_to_url: { url: 'javascript:alert(1)' } }
  assert.equal((await ask({ ...right, next_action })).redirectUrl, undefined)
})
