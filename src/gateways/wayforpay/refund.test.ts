import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  checkErrorCodes,
  checkoutOf,
  id,
  operations,
  refundOf,
  shop,
  signedReply,
  startAnswering,
  startShop,
} from '../../../test/gateways/wayforpay/operations.ts'

const { open, refund } = operations

async function startPaid(options = {}) {
  const here = await startShop(options)
  await open(checkoutOf(), here.context())
  here.pay(id)
  const give = (amount: bigint, reason: string | null = 'broken') =>
    refund(refundOf(amount, { reason }), here.context())
  const asked = () => here.provider.asked.filter(({ asking }) => asking === 'refund')
  return { ...here, give, requests: asked }
}

test('a refund is one signed REFUND', async () => {
  await using here = await startPaid()
  assert.deepEqual(await here.give(5050n), { status: 'paid' })
  const [first, ...more] = here.requests()
  assert.deepEqual(more, [])
  assert.match(first?.request.body ?? '', /"amount":50\.5,/)
  assert.deepEqual(JSON.parse(first?.request.body ?? ''), {
    transactionType: 'REFUND',
    merchantAccount: shop.account,
    orderReference: id,
    amount: 50.5,
    currency: 'UAH',
    comment: 'broken',
    // Made with OpenSSL.
    merchantSignature: '5b2f56412de52fec24e33eea7ae59eb4',
    apiVersion: 1,
  })
  assert.deepEqual(await here.give(10_025n), { status: 'paid' })
  assert.equal(here.refunds(id).length, 2)
})

test('the comment that WayForPay wants is the reason, or names the refund', async () => {
  await using here = await startPaid()
  const cases: readonly (readonly [reason: string | null, comment: string])[] = [
    [null, `Refund ${refundOf(1n).refund.id}`],
    ['  ', `Refund ${refundOf(1n).refund.id}`],
    [' не підійшло ', 'не підійшло'],
    ['x'.repeat(300), 'x'.repeat(255)],
    [`${'x'.repeat(254)}😀`, `${'x'.repeat(254)}\ufffd`],
  ]
  for (const [reason, comment] of cases) {
    await here.give(1n, reason)
    const sent = JSON.parse(here.requests().at(-1)?.request.body ?? '') as Record<string, unknown>
    assert.equal(sent['comment'], comment)
  }
})

test('a refund that waits for the balance is pending', async () => {
  await using here = await startPaid({ balanceIsLow: true })
  assert.deepEqual(await here.give(5000n), { status: 'pending' })
  assert.deepEqual(here.refunds(id), [{ amount: 5000n, status: 'pending' }])
})

test('a refund that WayForPay declines has failed, with its code', async () => {
  await using here = await startPaid()
  assert.deepEqual(await here.give(15_076n), { status: 'failed', code: '1128' })
  here.misbehave('refund', 'refuse')
  assert.deepEqual(await here.give(1n), { status: 'failed', code: '1123' })
  here.expire(id)
  assert.deepEqual(await here.give(1n), { status: 'failed', code: '1126' })
  assert.deepEqual(here.refunds(id), [])
})

test('a refund of an order that WayForPay has not got is refused', async () => {
  await using here = await startShop()
  const pending = refund(refundOf(1n), here.context())
  await assert.rejects(pending, { code: 'provider_refused', providerCode: '1127' })
})

const names = ['merchantAccount', 'orderReference', 'transactionStatus', 'reasonCode']
const given = {
  merchantAccount: shop.account,
  orderReference: id,
  transactionStatus: 'Refunded',
  reasonCode: 1100,
}

test('each signed reply is read by its status and code', async () => {
  const cases: readonly (readonly [
    status: string,
    reasonCode: number | null,
    reply: object | undefined,
  ])[] = [
    ['Refunded', 1100, { status: 'paid' }],
    ['Voided', 1100, { status: 'paid' }],
    ['RefundInProcessing', 1138, { status: 'pending' }],
    ['RefundInProcessing', 1136, { status: 'pending' }],
    ['Declined', 1136, { status: 'failed', code: '1136' }],
    ['Refunded', 1128, undefined],
    ['Declined', 1100, undefined],
    ['Declined', 1131, undefined],
    ['Declined', 1138, undefined],
    ['Declined', null, undefined],
    ['Refunded', null, undefined],
    ['Approved', 1100, undefined],
  ]
  for (const [transactionStatus, reasonCode, reply] of cases) {
    const fields = { ...given, transactionStatus, reasonCode }
    await using api = await startAnswering(signedReply(names, fields))
    const pending = refund(refundOf(1n), api.context())
    if (reply) assert.deepEqual(await pending, reply)
    else await assert.rejects(pending, { code: 'provider_reply_invalid' }, transactionStatus)
  }
})

test('a reply that is not signed as it should be leaves the refund open', async () => {
  const { body } = signedReply(names, given)
  const other = { ...given, orderReference: 'DH783023' }
  const bodies: readonly unknown[] = [
    given,
    { ...(body as object), transactionStatus: 'Declined', reasonCode: 1123 },
    { ...(body as object), merchantSignature: '0'.repeat(32), reasonCode: 1123 },
    signedReply(names, other).body,
    signedReply(names, { ...given, merchantAccount: 'shop_two' }).body,
    { ...(body as object), transactionStatus: ['Refunded'] },
    [],
    {},
  ]
  for (const reply of bodies) {
    await using api = await startAnswering({ body: reply })
    const pending = refund(refundOf(1n), api.context())
    await assert.rejects(pending, { code: 'provider_reply_invalid' }, JSON.stringify(reply))
    assert.equal(api.requests.length, 1)
  }
})

test('an error is a refusal only where nothing was certainly done', async () => {
  await checkErrorCodes((context) => refund(refundOf(1n), context))
})
