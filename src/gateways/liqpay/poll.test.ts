import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unmarked } from '../../../test/support/unmarked.ts'
import { pollLiqpay } from './poll.ts'
import {
  callback,
  ignoredAs,
  interpretText,
  paid,
  parse,
  paymentId,
  publicKey,
  refunded,
  type Fields,
} from '../../../test/gateways/liqpay/callbacks.ts'
import {
  answering,
  chargeOf,
  contextOf,
  expiresAt,
  paymentOf,
  pollOf,
  postForm,
  rotated,
  sentTexts,
} from '../../../test/gateways/liqpay/operations.ts'
import { thrownBy, failureOf, now } from '../../../test/providers/kit.ts'
import { startLiqpay } from '../../../test/providers/liqpay.ts'
import { endedBySilence } from '../../../test/providers/until-silent.ts'
import { interpretLiqpay } from './interpret.ts'
import { awaitsDecision, awaitsPayer } from './statuses.ts'

const poll = (standIn: Parameters<typeof contextOf>[0], fields = {}, payment = paymentOf()) =>
  pollLiqpay(pollOf(payment), contextOf(standIn, fields))

/** LiqPay answering this, whatever it is asked. */
async function pollAnswered(reply: unknown, { at = now, payment = paymentOf() } = {}) {
  await using standIn = await answering(reply)
  return await pollLiqpay(pollOf(payment), contextOf(standIn, { now: at }))
}

const replyOf = (fields: Fields = {}) => ({ result: 'ok', ...callback(fields) })
const errorOf = (code: unknown) => ({ result: 'error', status: 'error', err_code: code })
const afterwards = new Date(expiresAt)

test('an order that nobody has tried to pay is open until its form expires', async () => {
  await using standIn = await startLiqpay()
  const unseen = { outcomes: [ignoredAs('no_outcome', 'payment_not_found')], listsRefunds: false }
  assert.deepEqual(await poll(standIn), { ...unseen, standing: 'open' })
  await postForm(standIn)
  assert.deepEqual(await poll(standIn), { ...unseen, standing: 'open' })
  const lastMoment = new Date(expiresAt.getTime() - 1)
  assert.equal((await poll(standIn, { now: lastMoment })).standing, 'open')
  assert.equal((await poll(standIn, { now: afterwards })).standing, 'absent')
  const forEver = paymentOf({ expiresAt: null })
  assert.equal((await poll(standIn, { now: afterwards }, forEver)).standing, 'open')
  assert.deepEqual(
    [...new Set(sentTexts(standIn.asked.filter(({ asking }) => asking === 'poll')))],
    [`{"version":3,"public_key":"${publicKey}","action":"status","order_id":"${paymentId}"}`],
  )
})

test('a charge of a saved card that LiqPay has never heard of is absent', async () => {
  await using standIn = await startLiqpay()
  const { standing } = await poll(standIn, {}, chargeOf('CARD_TOKEN_7').payment)
  assert.equal(standing, 'absent')
})

test('each state of an order is told as its callback tells it', async () => {
  await using standIn = await startLiqpay()
  await postForm(standIn, { saveCard: true })
  const told = async () => {
    const reply = await poll(standIn)
    const { body } = standIn.paymentCallback(paymentId)
    assert.deepEqual(
      reply.outcomes.map((outcome) => ({ ...outcome, token: '' })),
      interpretLiqpay(parse(body)).map((outcome) => ({ ...outcome, token: '' })),
    )
    const { standing, listsRefunds } = reply
    return [reply.outcomes.map(({ type }) => type).join(), standing, listsRefunds]
  }
  standIn.decline(paymentId)
  assert.deepEqual(await told(), ['payment', 'open', false])
  standIn.pay(paymentId)
  assert.deepEqual(await told(), ['payment,payment_method', 'paid', true])
  standIn.refundByHand(paymentId, 235n)
  assert.deepEqual(await told(), ['payment,refund', 'paid', false])
  standIn.refundByHand(paymentId, 84000n)
  assert.deepEqual(await told(), ['payment,refund', 'paid', true])
})

test('a reply has the outcomes of the callback with the same fields', async () => {
  const cases: readonly Fields[] = [
    {},
    { status: 'failure', err_code: '9859' },
    { status: 'error', err_code: 'limit' },
    { status: 'reversed', refund_amount: 42.35 },
    { refund_amount: 42.35 },
    { status: 'wait_accept ' },
    { status: 'something_new' },
    { action: 'auth' },
    { amount: 'x' },
  ]
  for (const fields of cases) {
    const { outcomes } = await pollAnswered(replyOf(fields))
    assert.deepEqual(unmarked(outcomes), interpretText(JSON.stringify(callback(fields))))
  }
})

test('a refused payment can be tried again while its form lives', async () => {
  for (const status of ['failure', 'error', 'try_again']) {
    const reply = replyOf({ status })
    assert.equal((await pollAnswered(reply)).standing, 'open', status)
    assert.equal((await pollAnswered(reply, { at: afterwards })).standing, 'unpaid', status)
    assert.equal(
      (await pollAnswered(reply, { payment: chargeOf('CARD_TOKEN_7').payment })).standing,
      'unpaid',
      status,
    )
  }
})

test('a step of the payer leaves an order open, and one of somebody else has it undecided', async () => {
  for (const status of awaitsPayer) {
    const { standing } = await pollAnswered(replyOf({ status }), { at: afterwards })
    assert.equal(standing, 'open', status)
  }
  for (const status of [...awaitsDecision, 'subscribed']) {
    const reply = await pollAnswered(replyOf({ status }), { at: afterwards })
    assert.equal(reply.standing, 'undecided', status)
    assert.equal(reply.listsRefunds, false, status)
  }
})

test('a word that we do not know is unclear, and so is money that was taken otherwise', async () => {
  for (const fields of [
    { status: 'something_new' },
    { status: 'unsubscribed' },
    { action: 'p2p' },
    { action: 'auth' },
    { status: 'reversed', amount: 'x' },
  ]) {
    const { standing } = await pollAnswered(replyOf(fields), { at: afterwards })
    assert.equal(standing, 'unclear', JSON.stringify(fields))
  }
})

test('a hold that was let go is unpaid, and one that was taken first was paid', async () => {
  const hold = { action: 'hold', status: 'reversed' }
  assert.equal((await pollAnswered(replyOf(hold))).standing, 'unpaid')
  const taken = { ...hold, completion_date: 1_795_000_000_000 }
  assert.equal((await pollAnswered(replyOf(taken))).standing, 'paid')
})

test('refunds are all told where none or everything went back, and none is reserved', async () => {
  const cases: readonly (readonly [Fields, boolean])[] = [
    [{}, true],
    [{ refund_amount: null }, true],
    [{ refund_amount: 0 }, true],
    [{ refund_amount: 842.35 }, true],
    [{ status: 'sandbox' }, true],
    [{ status: 'reversed' }, true],
    [{ status: 'reversed', refund_amount: 842.35 }, true],
    // The sum of all, or the last one: LiqPay does not say.
    [{ refund_amount: 42.35 }, false],
    [{ status: 'reversed', refund_amount: 42.35 }, false],
    [{ refund_amount: 'x' }, false],
    [{ refund_amount: 'x', amount: 'x' }, false],
    [{ wait_reserve_status: true }, false],
    [{ status: 'wait_reserve' }, false],
  ]
  for (const [fields, isTold] of cases) {
    const { listsRefunds } = await pollAnswered(replyOf(fields))
    assert.equal(listsRefunds, isTold, JSON.stringify(fields))
  }
})

test('a reply about anything but this payment is refused', async () => {
  const another = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'
  const cases: readonly (readonly [unknown, string])[] = [
    [replyOf({ order_id: another }), `another order (${another})`],
    [replyOf({ order_id: undefined }), 'another order (none)'],
    [replyOf({ public_key: 'i00000000777' }), 'another shop'],
    [replyOf({ public_key: undefined }), 'no public_key that can be read'],
    [replyOf({ version: 4 }), 'no version that can be read'],
    [replyOf({ payment_id: undefined }), 'no payment_id'],
    [replyOf({ action: 'regular' }), 'a renewal of the order'],
    [[], 'no object'],
    [{}, 'no version that can be read'],
    [errorOf(undefined), 'an error without a code'],
    [errorOf(''), 'an error without a code'],
  ]
  for (const [reply, found] of cases) {
    const thrown = await thrownBy(pollAnswered(reply))
    assert.deepEqual(
      [thrown.code, thrown.message, thrown.providerCode],
      ['provider_reply_invalid', `LiqPay answered status: ${found}`, undefined],
    )
  }
})

test('an error is told with LiqPay’s code', async () => {
  for (const code of ['err_access', 'shop_blocked', 'wait_info', 90]) {
    const thrown = await thrownBy(pollAnswered(errorOf(code)))
    assert.deepEqual(
      [thrown.code, thrown.message, thrown.providerCode],
      ['provider_refused', `LiqPay answered status with the error ${code}`, String(code)],
    )
  }
})

test('while the key is replaced, each of them is tried, and other errors end it', async () => {
  await using standIn = await startLiqpay()
  await postForm(standIn)
  standIn.pay(paymentId)
  assert.deepEqual((await poll(rotated(standIn, 'first'))).outcomes, [
    { ...paid, providerReference: '7310094425' },
  ])
  assert.deepEqual(standIn.takeFaults(), ['status: the signature is wrong'])
  await poll(rotated(standIn, 'last'))
  standIn.misbehave('poll', 'refuse')
  assert.equal((await failureOf(poll(rotated(standIn, 'last')))).providerCode, 'err_access')
  assert.equal(standIn.asked.filter(({ asking }) => asking === 'poll').length, 4)
  const lost = { config: { ...standIn.config, private_key: 'zz_old_private_key_1' } }
  assert.equal((await failureOf(poll(lost))).providerCode, 'invalid_signature')
  assert.deepEqual(standIn.takeFaults(), ['status: the signature is wrong'])
})

test('a poll ends, whatever LiqPay does', async () => {
  await using standIn = await startLiqpay()
  await postForm(standIn)
  standIn.pay(paymentId)
  standIn.misbehave('poll', 'cut', 'garbled', 'wrong', 'down', 'refuse', 'never', 'late')
  const codes = ['unreachable', 'reply_invalid', 'reply_invalid', 'unreachable', 'refused']
  for (const code of codes) {
    assert.equal((await failureOf(poll(standIn))).code, `provider_${code}`)
  }
  const late = await failureOf(poll(standIn, { signal: endedBySilence(standIn) }))
  assert.equal(late.code, 'provider_unreachable')
  assert.equal((await poll(standIn)).standing, 'paid')
  standIn.down = true
  assert.equal((await failureOf(poll(standIn))).code, 'provider_unreachable')
})

test('a refund that was told is the same one again', async () => {
  const { outcomes } = await pollAnswered(replyOf({ refund_amount: 842.35 }))
  assert.deepEqual(outcomes, [paid, refunded])
})
