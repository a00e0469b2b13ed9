import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chargeOf,
  contextOf,
  openBank,
  opened,
  operations,
  paid,
  pollOf,
  refundOf,
  savedToken,
  sent,
} from '../../../test/gateways/monobank/asking.ts'
import { failureOf, now } from '../../../test/providers/kit.ts'
import { invoiceId, paymentId } from '../../../test/gateways/monobank/invoices.ts'
import { packageClient } from '../../../test/gateways/monobank/package.ts'
import { monobank } from './index.ts'

const { poll, refund, chargeSavedCard } = operations

test('while the token is replaced a poll asks with each', async () => {
  await using bank = await openBank()
  const payment = await paid(bank, true)
  const token = `uTokenThatComesLater,${bank.config.token}`
  const context = contextOf(bank, { token })
  const request = { payment, handedAt: now }
  assert.equal((await poll(request, context)).standing, 'paid')
  const first = contextOf(bank, { token: `${bank.config.token},uTokenThatIsOver` })
  assert.equal((await poll(request, first)).standing, 'paid')
})

test('of an invoice that no token finds only refused tokens leave it open whether there is one', async () => {
  await using bank = await openBank()
  const known = pollOf({ checkoutReference: invoiceId })
  for (const token of [`uTokenX,${bank.config.token}`, `${bank.config.token},uTokenX`]) {
    assert.equal((await poll(known, contextOf(bank, { token }))).standing, 'absent')
  }
  const failure = await failureOf(poll(known, contextOf(bank, { token: 'uTokenX,uTokenY' })))
  assert.deepEqual(failure, { code: 'provider_refused', providerCode: 'FORBIDDEN' })
})

test('the package nestjs-monobank asks the stand-in as we do, and understands its answers', async () => {
  await using bank = await openBank()
  const client = packageClient(bank.config.api_base ?? '', bank.config.token ?? '')
  await opened(bank, true)
  const [order] = sent(bank, 'checkout')
  assert.ok(order)
  const { invoiceId: id, pageUrl } = await client.invoice.create(order)
  assert.match(pageUrl, new RegExp(`/${id}$`))
  assert.deepEqual(sent(bank, 'checkout'), [order, order])
  bank.pay(paymentId)
  const status = await client.invoice.getStatus(id)
  assert.deepEqual(
    [status.status, status.amount, status.ccy, status.reference],
    ['success', 15_075, 980, paymentId],
  )
  const cardToken = savedToken(bank)

  const payment = { ...pollOf().payment, checkoutReference: id }
  await refund(refundOf(5000n, { payment }), contextOf(bank))
  const [refunded] = sent(bank, 'refund')
  assert.ok(refunded)
  const extRef = '0198f0aa-2222-7222-8222-222222222222'
  const again = await client.refund.cancel({ ...refunded, extRef })
  assert.equal(again.status, 'processing')

  await chargeSavedCard(chargeOf(cardToken), contextOf(bank))
  const [charge] = sent(bank, 'charge')
  assert.ok(charge)
  assert.equal((await client.wallet.create(charge)).status, 'success')
  assert.deepEqual(sent(bank, 'charge'), [charge, charge])
  const theirs = bank.asked.filter(({ request }) => request.headers['user-agent'] !== 'node')
  assert.equal(theirs.length, 4)
})

test('the callbacks of the stand-in are signed as those of the bank', async () => {
  await using bank = await openBank()
  await paid(bank)
  const { credentials } = contextOf(bank)
  const { headers, body } = bank.paymentCallback(paymentId)
  const request = { headers, body: Buffer.from(body) }
  assert.deepEqual(await monobank.verify(request, credentials, now), { valid: true })
  const changed = { headers, body: Buffer.from(body.replace('15075', '15076')) }
  assert.deepEqual(await monobank.verify(changed, credentials, now), {
    valid: false,
    reason: 'signature_mismatch',
  })
  const fetched = { ...credentials, settings: { api_base: bank.config.api_base ?? '' } }
  assert.deepEqual(await bank.gateway.verify(request, fetched, now), { valid: true })
})

test('the stand-in finds fault with what the bank would not understand', async () => {
  await using bank = await openBank()
  const headers = { 'x-token': bank.config.token ?? '', 'content-type': 'application/json' }
  const ask = (path: string, body?: object, more: object = {}) =>
    fetch(`${bank.config.api_base}/api/merchant/${path}`, {
      headers: { ...headers, ...more },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  await opened(bank)
  const [order] = sent(bank, 'checkout')
  const wrong = [
    ask('invoice/create', { ...order, amount: 150.75 }),
    ask('invoice/create', { ...order, ccy: 'UAH' }),
    ask('invoice/create', { ...order, webHookUrl: undefined }),
    ask('invoice/create', { ...order, webhookUrl: 'https://shop.example/' }),
    ask('invoice/create', { ...order, merchantPaymInfo: { destination: 'x' } }),
    ask('invoice/cancel', { invoiceId: 'p2_1', amount: '5000', extRef: paymentId }),
    ask('invoice/remove', {}),
    ask('statement?from=1763640000000&to=1763640000000'),
    ask('invoice/status?invoiceid=p2_1'),
    ask('invoice/delete', {}),
  ]
  const statuses = (await Promise.all(wrong)).map(({ status }) => status)
  assert.deepEqual(statuses, [...wrong.slice(1).map(() => 400), 404])
  assert.equal(bank.takeFaults().length, wrong.length)
  await ask('invoice/remove', { invoiceId: 'p2_1' }, { 'content-type': 'text/plain' })
  assert.match(bank.takeFaults().join(), /the content type is text\/plain$/)
})
