import assert from 'node:assert/strict'
import { test } from 'node:test'
import { otherId, paymentId } from '../../../test/gateways/stripe/events.ts'
import {
  chargedPayment,
  now,
  nowSeconds,
  sessionId,
  startOperations,
  paymentOf,
} from '../../../test/gateways/stripe/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { endedBySilence } from '../../../test/providers/until-silent.ts'
import { charged, undecided } from '../../../test/gateways/stripe/polling.ts'
import { stripe } from './index.ts'

test('a checkout whose opening was never answered is found by our id, on whatever page', async () => {
  await using started = await startOperations({ mostPerPage: 1 })
  started.standIn.misbehave('checkout', 'cut')
  assert.equal((await failureOf(started.open())).code, 'provider_unreachable')
  await started.open({ payment: paymentOf({ id: otherId }) })
  const open = await started.poll()
  assert.deepEqual(open, {
    outcomes: [undecided('session status open')],
    standing: 'open',
    listsRefunds: false,
    checkout: {
      live: false,
      checkoutReference: sessionId,
      url: `https://checkout.stripe.com/c/pay/${sessionId}`,
      expiresAt: new Date((nowSeconds + 3600) * 1000),
    },
  })
  const lists = started.standIn.asked.map(({ request }) => decodeURIComponent(request.target))
  assert.deepEqual(lists.slice(2, 4), [
    `/v1/checkout/sessions?created[gte]=${nowSeconds - 300}&created[lte]=${nowSeconds + 3900}&limit=100`,
    `/v1/checkout/sessions?created[gte]=${nowSeconds - 300}&created[lte]=${nowSeconds + 3900}&limit=100` +
      `&starting_after=cs_test_${otherId.replaceAll('-', '')}`,
  ])
  started.standIn.pay(paymentId)
  const paid = await started.poll()
  assert.deepEqual(paid.outcomes, [{ ...charged, status: 'paid' }])
  // Its intent is bound by what says that it was paid: until then another may take its place.
  assert.equal(paid.checkout?.checkoutReference, sessionId)
  assert.equal(paid.checkout?.providerReference, undefined)
})

test('what Stripe never got is absent', async () => {
  await using started = await startOperations()
  started.standIn.misbehave('checkout', 'lost')
  await assert.rejects(started.open({}, { signal: endedBySilence(started.standIn) }))
  await started.open({ payment: paymentOf({ id: otherId }) })
  for (const payment of [paymentOf(), chargedPayment()]) {
    assert.partialDeepStrictEqual(await started.poll(payment), {
      outcomes: [{ type: 'ignored', reason: 'no_outcome' }],
      standing: 'absent',
      listsRefunds: false,
    })
  }
})

test('a checkout that was made at another time is not looked for', async () => {
  await using started = await startOperations()
  await started.open()
  const { poll } = stripe
  assert.ok(poll)
  for (const [minutes, standing] of [
    [-66, 'absent'],
    [-64, 'open'],
    [4, 'open'],
    [6, 'absent'],
  ] as const) {
    const handedAt = new Date(now.getTime() + minutes * 60_000)
    const reply = await poll({ payment: paymentOf(), handedAt }, started.context())
    assert.equal(reply.standing, standing, String(minutes))
  }
})
