import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Misbehaviour } from '../../../test/providers/provider-stand-in.ts'
import { endedBySilence } from '../../../test/providers/until-silent.ts'
import { unmarked } from '../../../test/support/unmarked.ts'
import type { PollReply } from '../operations.ts'
import { tokenReference } from '../signing/token-reference.ts'
import { sampleToken } from './samples/callback.ts'
import { renewalReference } from '../../../test/gateways/wayforpay/callbacks.ts'
import {
  binding,
  checkoutOf,
  id,
  operations,
  pollOf,
  refundOf,
  shop,
  signedReply,
  startAnswering,
  startShop,
} from '../../../test/gateways/wayforpay/operations.ts'
import { signedFieldNames } from './payload.ts'

const { open, poll, refund } = operations

const stated = (status: string) => ({
  type: 'payment',
  status,
  payment: { id },
  amount: 15_075n,
  currency: 'UAH',
  ...binding,
})
const total = (refundedTotal: bigint) => ({
  type: 'refund',
  status: 'paid',
  payment: { id },
  refundedTotal,
  currency: 'UAH',
  ...binding,
})
const nothing = (detail: string) => ({ type: 'ignored', reason: 'no_outcome', detail })
const paid = stated('paid')

async function startOpen(options = {}) {
  const here = await startShop({ savesNoCards: true, ...options })
  await open(checkoutOf(), here.context())
  return { ...here, ask: () => poll(pollOf(), here.context()) }
}

test('CHECK_STATUS is asked by the payment’s id, signed, and says that the payer can pay', async () => {
  await using here = await startOpen()
  assert.deepEqual(await here.ask(), {
    outcomes: [nothing('Declined 1151')],
    standing: 'open',
    listsRefunds: false,
  })
  assert.deepEqual(JSON.parse(here.asked.at(-1)?.request.body ?? ''), {
    transactionType: 'CHECK_STATUS',
    merchantAccount: shop.account,
    orderReference: id,
    // Made with OpenSSL.
    merchantSignature: 'de1e6adccc71707001f27ac6882e8d5f',
    apiVersion: 1,
  })
})

test('a poll says the same as the callback, in every state of an order', async () => {
  await using here = await startOpen()
  const steps: readonly (readonly [() => void, outcome: object, standing: string])[] = [
    [() => here.decline(id), { ...stated('failed'), declineCode: '1104' }, 'open'],
    [() => here.expire(id), stated('canceled'), 'unpaid'],
    [() => here.pay(id), paid, 'paid'],
  ]
  for (const [step, outcome, standing] of steps) {
    step()
    const listsRefunds = outcome === paid
    assert.deepEqual(await here.ask(), { outcomes: [outcome], standing, listsRefunds })
    assert.deepEqual(await here.outcomesOf(here.paymentCallback(id)), [outcome])
  }
})

test('a saved card comes with the paid order', async () => {
  await using here = await startOpen({ savesNoCards: false })
  here.pay(id)
  const { outcomes } = await here.ask()
  const [first, card, ...more] = outcomes
  assert.deepEqual([first, more], [paid, []])
  assert.ok(card?.type === 'payment_method')
  const { token, ...rest } = card
  assert.equal(token?.reveal(), sampleToken(id))
  assert.deepEqual(rest, {
    type: 'payment_method',
    status: 'attached',
    reference: tokenReference(sampleToken(id)),
    payment: { id },
    details: { kind: 'card', brand: 'mastercard', lastFour: '1206' },
    ...binding,
  })
  assert.deepEqual(
    JSON.stringify(await here.outcomesOf(here.paymentCallback(id)), withDigits),
    JSON.stringify(outcomes, withDigits),
  )
})

const withDigits = (_name: string, value: unknown) =>
  typeof value === 'bigint' ? String(value) : value

test('refunds are told as their sum, and the payment as paid, though its callback was lost', async () => {
  await using here = await startOpen()
  here.pay(id)
  await refund(refundOf(5000n), here.context())
  assert.deepEqual(await here.ask(), {
    outcomes: [paid, total(5000n)],
    standing: 'paid',
    listsRefunds: true,
  })
  here.refundByHand(id, 10_075n)
  const { outcomes } = await here.ask()
  assert.deepEqual(outcomes, [paid, total(15_075n)])
  assert.deepEqual(await here.outcomesOf(here.refundCallback(id)), [paid, total(15_075n)])
})

test('while a refund is on its way no sum is told, and none counts as missing', async () => {
  await using here = await startOpen({ balanceIsLow: true })
  here.pay(id)
  await refund(refundOf(5000n), here.context())
  const waiting = { outcomes: [paid], standing: 'paid', listsRefunds: false }
  assert.deepEqual(await here.ask(), waiting)
  assert.deepEqual(await here.outcomesOf(here.refundCallback(id)), [
    nothing('RefundInProcessing 1138'),
  ])
  here.completeRefunds(id)
  assert.deepEqual((await here.ask()).outcomes, [paid, total(5000n)])
})

test('an order that WayForPay has not got is absent', async () => {
  await using here = await startShop()
  assert.deepEqual(await poll(pollOf(), here.context()), {
    outcomes: [nothing('1127')],
    standing: 'absent',
    listsRefunds: false,
  })
})

const order = {
  merchantAccount: shop.account,
  orderReference: id,
  amount: 150.75,
  currency: 'UAH',
  authCode: '',
  cardPan: '',
  transactionStatus: 'Approved',
  reasonCode: 1100,
  refundAmount: 0,
}
type Changes = Readonly<Record<string, string | number | null>>

async function replyFor(changes: Changes, reference = id): Promise<PollReply> {
  const fields = { ...order, orderReference: reference, ...changes }
  await using api = await startAnswering(signedReply(signedFieldNames, fields))
  const providerReference = reference === id ? null : reference
  const reply = await poll(pollOf({ providerReference }), api.context())
  return { ...reply, outcomes: unmarked(reply.outcomes) }
}

test('each status says what may still become of the payment', async () => {
  const cases: readonly (readonly [Changes, outcomes: readonly object[], standing: string])[] = [
    [{ transactionStatus: 'Created' }, [nothing('Created 1100')], 'open'],
    [{ transactionStatus: 'InProcessing' }, [nothing('InProcessing 1100')], 'undecided'],
    [{ transactionStatus: 'inProcessing' }, [nothing('inProcessing 1100')], 'undecided'],
    [{ transactionStatus: 'Pending' }, [nothing('Pending 1100')], 'undecided'],
    [
      { transactionStatus: 'WaitingAuthComplete' },
      [nothing('WaitingAuthComplete 1100')],
      'undecided',
    ],
    [{ reasonCode: 1101 }, [nothing('Approved 1101')], 'unclear'],
    [{ transactionStatus: 'Declined' }, [nothing('Declined 1100')], 'unclear'],
    [{ transactionStatus: 'Expired' }, [nothing('Expired 1100')], 'unclear'],
    [
      { transactionStatus: 'Declined', reasonCode: 1104 },
      [{ ...stated('failed'), declineCode: '1104' }],
      'open',
    ],
    [
      { transactionStatus: 'Martian' },
      [{ type: 'ignored', reason: 'unhandled_event', detail: 'Martian' }],
      'unclear',
    ],
    [{ transactionStatus: 'Voided' }, [{ ...stated('canceled'), ifPaid: 'refunded' }], 'unpaid'],
  ]
  for (const [changes, outcomes, standing] of cases) {
    assert.deepEqual(await replyFor(changes), { outcomes, standing, listsRefunds: false })
  }
})

test('what went back is told by every status that has a sum', async () => {
  const cases: readonly (readonly [Changes, outcomes: readonly object[]])[] = [
    [{ refundAmount: 50.5 }, [paid, total(5050n)]],
    [{ refundAmount: '50.50' }, [paid, total(5050n)]],
    [{ transactionStatus: 'Voided', refundAmount: 150.75 }, [paid, total(15_075n)]],
    [{ transactionStatus: 'Refunded', refundAmount: 150.75 }, [paid, total(15_075n)]],
  ]
  for (const [changes, outcomes] of cases) {
    const listsRefunds = true
    assert.deepEqual(await replyFor(changes), { outcomes, standing: 'paid', listsRefunds })
  }
})

test('without a sum nobody knows whether anything went back', async () => {
  for (const refundAmount of [null, '']) {
    const reply = { outcomes: [paid], standing: 'paid', listsRefunds: false }
    assert.deepEqual(await replyFor({ refundAmount }), reply)
  }
  for (const changes of [{ transactionStatus: 'Refunded' }, { refundAmount: 'ten' }]) {
    await assert.rejects(replyFor(changes), { code: 'provider_reply_invalid' })
  }
})

test('a scheduled charge is asked for by its own reference', async () => {
  const { outcomes } = await replyFor({}, renewalReference)
  assert.deepEqual(outcomes, [
    {
      ...paid,
      payment: { providerReference: renewalReference },
      providerReference: renewalReference,
      renews: { id: renewalReference.slice(0, 36) },
    },
  ])
})

test('an order that is not named after a payment of ours decides nothing', async () => {
  const { outcomes } = await replyFor({}, 'DH783023')
  assert.deepEqual(outcomes, [{ type: 'ignored', reason: 'invalid_reference', detail: 'DH783023' }])
})

test('a reply counts only with a signature, and about the order that was asked about', async () => {
  const { body } = signedReply(signedFieldNames, order)
  const fields = body as object
  const elsewhere = signedReply(signedFieldNames, { ...order, merchantAccount: 'shop_two' })
  const bodies: readonly (readonly [body: unknown, message: RegExp])[] = [
    [{ ...fields, amount: 1 }, /signature_mismatch/],
    [{ ...fields, transactionStatus: 'Declined', reasonCode: 1104 }, /signature_mismatch/],
    [{ ...fields, merchantSignature: '' }, /signature_missing/],
    [{ ...fields, orderReference: 'DH783023' }, /another_order/],
    [elsewhere.body, /merchant_account_mismatch/],
    [order, /signature_missing/],
  ]
  for (const [reply, message] of bodies) {
    await using api = await startAnswering({ body: reply })
    const pending = poll(pollOf(), api.context())
    await assert.rejects(pending, { code: 'provider_reply_invalid', message })
  }
})

test('every failure of the inquiry is told by its kind', async () => {
  const cases: readonly (readonly [Misbehaviour, code: string])[] = [
    ['cut', 'provider_unreachable'],
    ['down', 'provider_unreachable'],
    ['garbled', 'provider_reply_invalid'],
    ['wrong', 'provider_reply_invalid'],
    ['refuse', 'provider_refused'],
  ]
  await using here = await startOpen()
  for (const [misbehaviour, code] of cases) {
    here.misbehave('poll', misbehaviour)
    await assert.rejects(here.ask(), { code }, misbehaviour)
  }
  here.misbehave('poll', 'never', 'late')
  const signal = endedBySilence(here)
  await assert.rejects(poll(pollOf(), here.context({ signal })), {
    code: 'provider_unreachable',
  })
  assert.equal((await here.ask()).standing, 'open')
})

test('while the secret is replaced, the one that WayForPay takes is found', async () => {
  await using here = await startOpen()
  here.pay(id)
  const secret_key = `a_secret_of_tomorrow,${shop.secretKey},a_secret_of_yesterday`
  const { outcomes } = await poll(pollOf(), here.context({ config: { secret_key } }))
  assert.deepEqual(outcomes, [paid])
  assert.deepEqual(here.takeFaults(), ['CHECK_STATUS is signed wrongly'])
})
