import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unmarked } from '../../../test/support/unmarked.ts'
import {
  binding,
  chargeOf,
  checkErrorCodes,
  id,
  operations,
  pollOf,
  shop,
  signatureOf,
  signedReply,
  startAnswering,
  startShop,
  token,
} from '../../../test/gateways/wayforpay/operations.ts'
import { signedFieldNames } from './payload.ts'

const { chargeSavedCard, poll } = operations

const stated = (status: string) => ({
  type: 'payment',
  status,
  payment: { id },
  amount: 15_075n,
  currency: 'UAH',
  ...binding,
})

test('a saved card is charged by one signed CHARGE without 3-D Secure', async () => {
  await using here = await startShop()
  const customer = { name: 'Ada Byron', email: 'ada@example.com', ip: '203.0.113.7' }
  const reply = await chargeSavedCard(chargeOf(token, { payment: { customer } }), here.context())
  assert.deepEqual(reply, { outcomes: [stated('paid')] })
  assert.equal(here.asked.length, 1)
  const product = `Payment ${id.slice(-8)}`
  assert.deepEqual(JSON.parse(here.asked[0]?.request.body ?? ''), {
    transactionType: 'CHARGE',
    merchantAccount: shop.account,
    merchantAuthType: 'SimpleSignature',
    merchantDomainName: 'shop.example',
    merchantTransactionType: 'SALE',
    merchantTransactionSecureType: 'NON3DS',
    merchantSignature: signatureOf(
      `${shop.account};shop.example;${id};1795176000;150.75;UAH;${product};1;150.75`.split(';'),
    ),
    apiVersion: 1,
    orderReference: id,
    orderDate: 1_795_176_000,
    amount: 150.75,
    currency: 'UAH',
    productName: [product],
    productCount: [1],
    productPrice: [150.75],
    serviceUrl: 'https://shop.example/billing/webhooks/wayforpay',
    recToken: token,
    clientIpAddress: '203.0.113.7',
    clientFirstName: 'Ada',
    clientLastName: 'Byron',
    clientEmail: 'ada@example.com',
  })
  assert.equal(here.charges(id), 1)
})

test('without the payer’s address the charge comes from this machine', async () => {
  for (const ip of [undefined, '', 'nowhere', 7]) {
    await using here = await startShop()
    await chargeSavedCard(chargeOf(token, { payment: { customer: { ip } } }), here.context())
    assert.match(here.asked[0]?.request.body ?? '', /"clientIpAddress":"127\.0\.0\.1"/)
  }
  await using here = await startShop()
  await chargeSavedCard(
    chargeOf(token, { payment: { customer: { ip: '2001:db8::1' } } }),
    here.context(),
  )
  assert.match(here.asked[0]?.request.body ?? '', /"clientIpAddress":"2001:db8::1"/)
})

test('callback and poll say the same as the reply', async () => {
  await using here = await startShop({ savesNoCards: true })
  const { outcomes } = await chargeSavedCard(chargeOf(token), here.context())
  assert.deepEqual(await here.outcomesOf(here.paymentCallback(id)), outcomes)
  assert.deepEqual((await poll(pollOf(), here.context())).outcomes, outcomes)
})

const order = {
  merchantAccount: shop.account,
  orderReference: id,
  amount: 150.75,
  currency: 'UAH',
  authCode: '',
  cardPan: '',
  transactionStatus: 'Declined',
  reasonCode: 1104,
}

test('each signed reply means what a callback with its fields means', async () => {
  const undecided = (detail: string) => ({ type: 'ignored', reason: 'no_outcome', detail })
  const cases: readonly (readonly [status: string, reasonCode: number, outcome: object])[] = [
    ['Declined', 1104, { ...stated('failed'), declineCode: '1104' }],
    ['Declined', 5100, { ...stated('failed'), declineCode: '5100' }],
    ['Expired', 1124, stated('canceled')],
    ['Pending', 1134, undecided('Pending 1134')],
    ['InProcessing', 1131, undecided('InProcessing 1131')],
    ['Approved', 1101, undecided('Approved 1101')],
  ]
  for (const [transactionStatus, reasonCode, outcome] of cases) {
    const fields = { ...order, transactionStatus, reasonCode }
    await using api = await startAnswering(signedReply(signedFieldNames, fields))
    const { outcomes } = await chargeSavedCard(chargeOf(token), api.context())
    assert.deepEqual(unmarked(outcomes), [outcome])
  }
})

test('a bank that wants 3-D Secure leaves the charge undecided, and the log says so', async () => {
  await using here = await startShop({ wants3ds: true })
  const logged: string[] = []
  const { outcomes, ...more } = await chargeSavedCard(chargeOf(token), here.context({ logged }))
  assert.deepEqual(outcomes, [
    { type: 'ignored', reason: 'no_outcome', detail: 'InProcessing 5100' },
  ])
  assert.deepEqual(more, { needsPayer: true })
  assert.equal(logged.length, 1)
  assert.match(logged[0] ?? '', /"level":40,.*needs 3-D Secure/)
  assert.ok(!logged[0]?.includes(token))
  assert.equal((await poll(pollOf(), here.context())).standing, 'undecided')
})

test('a reply that is not signed as it should be leaves the charge open', async () => {
  const { body } = signedReply(signedFieldNames, order)
  const refunded = { ...order, transactionStatus: 'Refunded' }
  const bodies: readonly unknown[] = [
    { ...(body as object), amount: 1 },
    { ...(body as object), merchantSignature: '0'.repeat(32) },
    { ...order, reasonCode: 1100 },
    signedReply(signedFieldNames, { ...order, orderReference: 'DH783023' }).body,
    signedReply(signedFieldNames, refunded).body,
    [],
    {},
  ]
  for (const reply of bodies) {
    await using api = await startAnswering({ body: reply })
    const pending = chargeSavedCard(chargeOf(token), api.context())
    await assert.rejects(pending, { code: 'provider_reply_invalid' }, JSON.stringify(reply))
    assert.equal(api.requests.length, 1)
  }
})

test('an error is a refusal only where nothing was certainly done', async () => {
  await checkErrorCodes((context) => chargeSavedCard(chargeOf(token), context))
})

test('a charge whose order is there already is not known to have failed', async () => {
  await using here = await startShop()
  await chargeSavedCard(chargeOf(token), here.context())
  const again = chargeSavedCard(chargeOf(token), here.context())
  await assert.rejects(again, { code: 'provider_reply_invalid', providerCode: '1112' })
})

test('a card that WayForPay does not know is refused', async () => {
  await using here = await startShop()
  const pending = chargeSavedCard(chargeOf('unknown'), here.context())
  await assert.rejects(pending, { code: 'provider_refused', providerCode: '1116' })
})

test('a charge without the token sends WayForPay nothing', async () => {
  await using here = await startShop()
  const untold = chargeSavedCard(chargeOf(null), here.context())
  await assert.rejects(untold, { code: 'payment_invalid', message: /token .* is not stored/ })
  assert.deepEqual(here.asked, [])
})
