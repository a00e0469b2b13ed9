import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answering,
  chargeOf,
  contextOf,
  openBank,
  operations,
  paid,
  paymentOf,
  savedToken,
  sent,
} from '../../../test/gateways/monobank/asking.ts'
import { failureOf, hour, now } from '../../../test/providers/kit.ts'
import {
  invoiceId,
  paid as paidOutcome,
  paidBy,
  paymentId,
} from '../../../test/gateways/monobank/invoices.ts'

const { chargeSavedCard, poll } = operations
const cardId = '0198f0aa-0000-7000-8000-00000000cafe'
const charged = (fields: object = {}) => paymentOf({ paymentMethodId: cardId, ...fields })

test('the merchant charges a saved card at once, by its token', async () => {
  await using bank = await openBank()
  await paid(bank, true)
  const token = savedToken(bank)
  const reply = await chargeSavedCard(chargeOf(token), contextOf(bank))
  const { checkoutReference } = reply
  assert.deepEqual(reply, {
    outcomes: [paidBy(checkoutReference)],
    checkoutReference: 'p2_00000002',
  })
  assert.deepEqual(sent(bank, 'charge'), [
    {
      cardToken: token,
      initiationKind: 'merchant',
      amount: 15_075,
      ccy: 980,
      merchantPaymInfo: { reference: paymentId, destination: `Payment ${paymentId.slice(-8)}` },
      redirectUrl: `https://shop.example/billing/return/${paymentId}`,
      webHookUrl: 'https://shop.example/billing/webhooks/monobank',
    },
  ])
  assert.equal(bank.charges(paymentId), 1)
})

test('a charge that the payer asks for may have to be confirmed by him', async () => {
  await using bank = await openBank()
  await paid(bank, true)
  const request = chargeOf(savedToken(bank), { initiatedBy: 'customer' })
  const reply = await chargeSavedCard(request, contextOf(bank))
  assert.deepEqual(reply, {
    outcomes: [{ type: 'ignored', reason: 'no_outcome', detail: 'processing' }],
    checkoutReference: 'p2_00000002',
    redirectUrl: 'https://3ds.mbnk.biz/p2_00000002',
  })
  assert.equal(sent(bank, 'charge')[0]?.initiationKind, 'client')
  bank.pay(paymentId)
  const asked = { payment: charged({ checkoutReference: 'p2_00000002' }), handedAt: now }
  const { outcomes } = await poll(asked, contextOf(bank))
  assert.deepEqual(outcomes, [paidBy('p2_00000002')])
})

test('a declined charge has failed, and there is no page to try again on', async () => {
  const body = { invoiceId, status: 'failure', amount: 15_075, ccy: 980, failureReason: 'x' }
  await using bank = await answering({ body })
  const reply = await chargeSavedCard(chargeOf('uTokenOfACard'), contextOf(bank))
  assert.deepEqual(reply.outcomes, [{ ...paidOutcome, status: 'failed' }])
  const asked = { payment: charged({ checkoutReference: invoiceId }), handedAt: now }
  assert.equal((await poll(asked, contextOf(bank))).standing, 'unpaid')
})

test('a token that the bank does not know is refused', async () => {
  await using bank = await openBank()
  assert.deepEqual(await failureOf(chargeSavedCard(chargeOf('uTokenX'), contextOf(bank))), {
    code: 'provider_refused',
    providerCode: 'TOKEN_NOT_FOUND',
  })
})

test('a card whose token is not stored is charged by no request', async () => {
  await using bank = await openBank()
  const { code } = await failureOf(chargeSavedCard(chargeOf(null), contextOf(bank)))
  assert.equal(code, 'payment_method_unusable')
  assert.equal(bank.asked.length, 0)
})

test('a reply that may be about another charge is believed in nothing', async () => {
  const sure = { invoiceId, status: 'success', amount: 15_075, ccy: 980 }
  const replies = [
    { ...sure, amount: 15_076 },
    { ...sure, amount: '15075' },
    { ...sure, amount: undefined },
    { ...sure, ccy: 840 },
    { ...sure, ccy: undefined },
    { ...sure, invoiceId: undefined },
    { ...sure, invoiceId: 'a/b' },
    { ...sure, status: undefined },
    { ...sure, reference: '0198f0aa-ffff-7fff-8fff-ffffffffffff' },
    { ...sure, status: 'processing', tdsUrl: 'javascript:alert(1)' },
    { ...sure, status: 'processing', tdsUrl: 7 },
    {},
    [],
    '',
  ]
  for (const body of replies) {
    await using bank = await answering({ body })
    const { code } = await failureOf(chargeSavedCard(chargeOf('uTokenX'), contextOf(bank)))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(body))
    assert.equal(bank.requests.length, 1)
  }
  for (const tdsUrl of ['', null]) {
    await using bank = await answering({ body: { ...sure, tdsUrl } })
    const reply = await chargeSavedCard(chargeOf('uTokenX'), contextOf(bank))
    assert.equal(reply.redirectUrl, undefined)
  }
})

test('a charge that the bank does not list may still turn up, for a day', async () => {
  await using bank = await openBank()
  const { outcomes, standing } = await poll({ payment: charged(), handedAt: now }, contextOf(bank))
  assert.deepEqual(outcomes, [{ type: 'ignored', reason: 'no_outcome', detail: 'not_found' }])
  assert.equal(standing, 'undecided')
  for (const [age, expected] of [
    [24 * hour - 1, 'undecided'],
    [24 * hour, 'absent'],
  ] as const) {
    const later = contextOf(bank, { now: new Date(now.getTime() + age) })
    const reply = await poll({ payment: charged(), handedAt: now }, later)
    assert.equal(reply.standing, expected)
  }
})
