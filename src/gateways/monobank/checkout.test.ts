import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payment } from '../../payments/payment.ts'
import {
  answering,
  checkoutOf,
  contextOf,
  openBank,
  operations,
  sent,
} from '../../../test/gateways/monobank/asking.ts'
import { failureOf, hour, now } from '../../../test/providers/kit.ts'
import { paymentId } from '../../../test/gateways/monobank/invoices.ts'

const { open } = operations.checkout
const plain = {
  amount: 15_075,
  ccy: 980,
  merchantPaymInfo: { reference: paymentId, destination: `Payment ${paymentId.slice(-8)}` },
  redirectUrl: `https://shop.example/billing/return/${paymentId}`,
  webHookUrl: 'https://shop.example/billing/webhooks/monobank',
  validity: 3600,
  paymentType: 'debit',
}

test('a checkout is one invoice with our id, the money in minor units and both URLs', async () => {
  await using bank = await openBank()
  const checkout = await open(checkoutOf(), contextOf(bank))
  assert.deepEqual(checkout, {
    url: 'https://pay.mbnk.biz/p2_00000001',
    checkoutReference: 'p2_00000001',
    expiresAt: new Date(now.getTime() + hour),
  })
  assert.deepEqual(sent(bank, 'checkout'), [plain])
  assert.equal(bank.asked.length, 1)
  assert.equal(bank.checkouts(paymentId), 1)
})

test('description, customer and saved card go along where the payment has them', async () => {
  await using bank = await openBank()
  const customer = { id: 'customer-7', email: 'payer@example.com' }
  const fields = { description: ' Замовлення №7 ', customer, currency: 'EUR' }
  await open(checkoutOf({ payment: fields, saveCard: true }), contextOf(bank))
  assert.deepEqual(sent(bank, 'checkout'), [
    {
      ...plain,
      ccy: 978,
      merchantPaymInfo: {
        reference: paymentId,
        destination: 'Замовлення №7',
        customerEmails: ['payer@example.com'],
      },
      saveCardData: { saveCard: true, walletId: '0713ce837d4e5db48e7b514f6f998b97' },
    },
  ])
})

test('a customer has one wallet, and what is paid for has one where no customer is named', async () => {
  await using bank = await openBank()
  const walletOf = async (payment: Partial<Payment>) => {
    await open(checkoutOf({ payment, saveCard: true }), contextOf(bank))
    return JSON.stringify(sent(bank, 'checkout').at(-1)?.saveCardData)
  }
  const ofOrder = await walletOf({})
  assert.equal(await walletOf({ customer: { id: '' } }), ofOrder)
  assert.equal(await walletOf({ customer: { id: 7 } }), ofOrder)
  assert.notEqual(await walletOf({ payable: { type: 'order', id: '2' } }), ofOrder)
  assert.notEqual(await walletOf({ customer: { id: '1' } }), ofOrder)
  const seventh = await walletOf({ customer: { id: '7' } })
  assert.equal(await walletOf({ customer: { id: '7' }, payable: { type: 'a', id: 'b' } }), seventh)
})

test('an e-mail that is none stays here, and a long description is cut between characters', async () => {
  await using bank = await openBank()
  const customers = [{ email: 7 }, { email: 'nobody' }, { email: 'a b@c.d' }, {}, null]
  for (const customer of customers)
    await open(checkoutOf({ payment: { customer } }), contextOf(bank))
  const description = `${'x'.repeat(279)}💳`
  await open(checkoutOf({ payment: { description } }), contextOf(bank))
  const details = sent(bank, 'checkout').map(({ merchantPaymInfo }) => merchantPaymInfo)
  assert.deepEqual(details, [
    ...customers.map(() => plain.merchantPaymInfo),
    { reference: paymentId, destination: 'x'.repeat(279) },
  ])
})

test('the lifetime is whole seconds, from a minute to 30 days, and the real end is told', async () => {
  await using bank = await openBank()
  const cases = [
    [90_999, 90],
    [10_000, 60],
    [-hour, 60],
    [30 * 24 * hour, 2_592_000],
    [31 * 24 * hour, 2_592_000],
  ] as const
  for (const [lifetime, validity] of cases) {
    const expiresAt = new Date(now.getTime() + lifetime)
    const checkout = await open(checkoutOf({ expiresAt }), contextOf(bank))
    assert.equal(sent(bank, 'checkout').at(-1)?.validity, validity)
    assert.deepEqual(checkout.expiresAt, new Date(now.getTime() + validity * 1000))
  }
})

test('a reply without an invoice or a page is no checkout', async () => {
  const pageUrl = 'https://pay.mbnk.biz/p2_1'
  const replies = [
    { pageUrl },
    { invoiceId: 'p2/1', pageUrl },
    { invoiceId: '', pageUrl },
    { invoiceId: 7, pageUrl },
    { invoiceId: 'p2_1' },
    { invoiceId: 'p2_1', pageUrl: 'javascript:alert(1)' },
    { invoiceId: 'p2_1', pageUrl: '/p2_1' },
    [],
    'p2_1',
    '',
  ]
  for (const body of replies) {
    await using bank = await answering({ body })
    const { code } = await failureOf(open(checkoutOf(), contextOf(bank)))
    assert.equal(code, 'provider_reply_invalid', JSON.stringify(body))
    assert.equal(bank.requests.length, 1)
  }
})

test('the bank takes three currencies, and no amount of zero', () => {
  const { moneyFault } = operations
  for (const currency of ['UAH', 'USD', 'EUR']) {
    assert.equal(moneyFault({ amount: 1n, currency }), undefined)
  }
  assert.equal(
    moneyFault({ amount: 1n, currency: 'PLN' }),
    'monobank takes UAH, USD and EUR, not PLN',
  )
  assert.equal(moneyFault({ amount: 0n, currency: 'UAH' }), 'monobank takes no payment of nothing')
})
