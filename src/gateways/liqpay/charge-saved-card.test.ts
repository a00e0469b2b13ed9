import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chargeSavedCard } from './charge-saved-card.ts'
import {
  callback,
  ignoredAs,
  paid,
  paymentId,
  publicKey,
  type Fields,
} from '../../../test/gateways/liqpay/callbacks.ts'
import {
  answering,
  chargeOf,
  contextOf,
  pollOf,
  sentText,
  sentTexts,
} from '../../../test/gateways/liqpay/operations.ts'
import { thrownBy, failureOf } from '../../../test/providers/kit.ts'
import { startLiqpay } from '../../../test/providers/liqpay.ts'
import { pollLiqpay } from './poll.ts'

const charge = (
  standIn: Parameters<typeof contextOf>[0],
  fields: Parameters<typeof contextOf>[1] = {},
) => chargeSavedCard(chargeOf('CARD_TOKEN_7'), contextOf(standIn, fields))

/** LiqPay answering this to a charge. */
async function chargeAnswered(reply: unknown) {
  await using standIn = await answering(reply)
  return await chargeSavedCard(chargeOf('CARD_TOKEN_7'), contextOf(standIn))
}

const replyOf = (fields: Fields = {}) => ({
  result: 'ok',
  ...callback({ action: 'paytoken', ...fields }),
})
const errorOf = (code: unknown) => ({ result: 'error', status: 'error', err_code: code })

test('a good card is charged at once', async () => {
  await using standIn = await startLiqpay()
  assert.deepEqual(await charge(standIn), {
    outcomes: [paid],
    providerReference: '7310094425',
  })
  assert.equal(standIn.charges(paymentId), 1)
  assert.deepEqual(sentTexts(standIn.asked), [
    `{"version":3,"public_key":"${publicKey}","action":"paytoken","amount":842.35,` +
      `"currency":"UAH","description":"Payment ${paymentId.slice(-8)}","order_id":"${paymentId}",` +
      `"card_token":"CARD_TOKEN_7","ip":"127.0.0.1",` +
      `"server_url":"https://shop.example/billing/webhooks/liqpay"}`,
  ])
})

test('the payer’s address is sent where it is known', async () => {
  const cases = [
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8::1', '2001:db8::1'],
    ['somewhere', '127.0.0.1'],
    ['', '127.0.0.1'],
    [7, '127.0.0.1'],
  ] as const
  for (const [ip, sent] of cases) {
    await using standIn = await startLiqpay()
    const request = chargeOf('CARD_TOKEN_7', { payment: { customer: { ip } } })
    await chargeSavedCard(request, contextOf(standIn))
    const [asked] = standIn.asked
    assert.equal((JSON.parse(sentText(asked?.request.body ?? '')) as { ip?: string }).ip, sent)
  }
})

test('a card that is declined fails the payment', async () => {
  await using standIn = await startLiqpay()
  standIn.card = 'declined'
  const { outcomes } = await charge(standIn)
  assert.deepEqual(outcomes, [{ ...paid, status: 'failed', declineCode: 'limit' }])
})

test('a check against fraud leaves it open, and the status tells the rest', async () => {
  await using standIn = await startLiqpay()
  standIn.card = 'checked'
  assert.deepEqual(await charge(standIn), {
    outcomes: [ignoredAs('no_outcome', 'wait_secure')],
    providerReference: '7310094425',
  })
  const { payment } = chargeOf('CARD_TOKEN_7')
  const poll = () => pollLiqpay(pollOf(payment), contextOf(standIn))
  assert.equal((await poll()).standing, 'undecided')
  standIn.pay(paymentId)
  const reply = await poll()
  assert.deepEqual([reply.outcomes, reply.standing], [[paid], 'paid'])
})

test('the payer is sent to LiqPay for 3-D Secure', async () => {
  await using standIn = await startLiqpay()
  standIn.card = 'asks_3ds'
  assert.deepEqual(await charge(standIn), {
    outcomes: [ignoredAs('no_outcome', '3ds_verify')],
    providerReference: '7310094425',
    redirectUrl: 'https://www.liqpay.ua/api/3ds/request/7310094425',
  })
})

test('an address that is no web page confirms nothing', async () => {
  for (const url of [undefined, '', 'javascript:alert(1)', '/3ds', 7]) {
    const reply = replyOf({ status: '3ds_verify', redirect_to: url })
    const { code, message } = await thrownBy(chargeAnswered(reply))
    assert.equal(code, 'provider_reply_invalid')
    assert.equal(message, 'LiqPay answered paytoken: 3ds_verify without an address')
  }
  const paidReply = replyOf({ redirect_to: 'https://www.liqpay.ua/x' })
  assert.equal((await chargeAnswered(paidReply)).redirectUrl, undefined)
})

test('an error refuses only where its code says that nothing was done', async () => {
  for (const code of ['err_no_card_token', 'shop_not_active', 'limit', 'err_card_country']) {
    const { code: ours, providerCode } = await failureOf(chargeAnswered(errorOf(code)))
    assert.deepEqual([ours, providerCode], ['provider_refused', code])
  }
  for (const code of ['payment_processing', 'err_wallet', 90, 'new', undefined]) {
    const { code: ours } = await failureOf(chargeAnswered(errorOf(code)))
    assert.equal(ours, 'provider_reply_invalid', String(code))
  }
})

test('an order that is there already is not refused: whatever made it may have charged', async () => {
  for (const code of ['order_id_duplicate', '2915']) {
    for (const reply of [errorOf(code), replyOf({ status: 'error', err_code: code })]) {
      assert.equal((await failureOf(chargeAnswered(reply))).code, 'provider_reply_invalid')
    }
  }
  await using standIn = await startLiqpay()
  await charge(standIn)
  assert.equal((await failureOf(charge(standIn))).code, 'provider_reply_invalid')
  assert.deepEqual(standIn.takeFaults(), [`the order ${paymentId} is charged again`])
  assert.equal(standIn.charges(paymentId), 1)
})

test('a reply about another payment decides nothing', async () => {
  const another = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'
  const cases: readonly Fields[] = [
    { order_id: another },
    { public_key: 'i00000000777' },
    { payment_id: undefined },
    { status: undefined },
    { version: '3.0' },
  ]
  for (const fields of cases) {
    const { code } = await failureOf(chargeAnswered(replyOf(fields)))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(fields))
  }
})

test('without the token nothing is charged', async () => {
  await using standIn = await startLiqpay()
  const tokenless = chargeSavedCard(chargeOf(null), contextOf(standIn))
  assert.equal((await failureOf(tokenless)).code, 'gateway_not_configured')
  assert.deepEqual(standIn.asked, [])
})
