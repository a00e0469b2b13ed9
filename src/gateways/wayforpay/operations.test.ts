import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Payment } from '../../payments/payment.ts'
import {
  checkErrorCodes,
  checkoutOf,
  id,
  now,
  operations,
  payment,
  pollOf,
  shop,
  startAnswering,
  startShop,
} from '../../../test/gateways/wayforpay/operations.ts'
import { wayforpay } from './index.ts'

const { open, closeCheckout } = operations

async function sentFor(fields: Partial<Payment>) {
  await using here = await startShop()
  await open(checkoutOf({ payment: fields }), here.context())
  return here.asked[0]?.request.body ?? ''
}

test('a checkout is one signed CREATE_INVOICE, and its URL comes back', async () => {
  await using here = await startShop()
  const customer = { email: 'olena@example.com', name: 'Олена Коваль', phone: '+380501234567' }
  const request = checkoutOf({
    payment: { description: 'Чай, 2 пачки', customer },
    origin: 'https://shop.example.com',
  })
  const opened = await open(request, here.context())
  assert.deepEqual(opened, { url: 'https://secure.wayforpay.com/invoice/0198f0aa' })
  assert.equal(here.asked.length, 1)
  assert.deepEqual(JSON.parse(here.asked[0]?.request.body ?? ''), {
    transactionType: 'CREATE_INVOICE',
    merchantAccount: shop.account,
    merchantAuthType: 'SimpleSignature',
    merchantDomainName: 'shop.example.com',
    // Made with OpenSSL.
    merchantSignature: 'a675bb851c7cc03386a60b245e3558eb',
    apiVersion: 1,
    orderReference: id,
    orderDate: 1_795_176_000,
    orderTimeout: 3600,
    amount: 150.75,
    currency: 'UAH',
    productName: ['Чай, 2 пачки'],
    productCount: [1],
    productPrice: [150.75],
    serviceUrl: 'https://shop.example/billing/webhooks/wayforpay',
    returnUrl: `https://shop.example/billing/return/${id}`,
    clientFirstName: 'Олена',
    clientLastName: 'Коваль',
    clientEmail: 'olena@example.com',
    clientPhone: '+380501234567',
  })
})

test('the invoice is in the customer’s language by WayForPay’s name of it, which is not signed', async () => {
  for (const [locale, language] of [
    ['uk-UA', '"language":"UA"'],
    ['en-GB', '"language":"EN"'],
  ] as const) {
    assert.ok((await sentFor({ customer: { locale } })).includes(language))
  }
  assert.equal((await sentFor({ customer: { locale: 'de' } })).includes('language'), false)
})

test('an amount is sent as the literal that is signed, and never as a float', async () => {
  const cases: readonly (readonly [amount: bigint, literal: string])[] = [
    [15_075n, '150.75'],
    [49_000n, '490'],
    [1n, '0.01'],
    [1_010n, '10.1'],
    [999_999_999_999_999n, '9999999999999.99'],
  ]
  for (const [amount, literal] of cases) {
    const body = await sentFor({ amount })
    assert.ok(body.includes(`"amount":${literal},`), body)
    assert.ok(body.includes(`"productPrice":[${literal}]`), body)
  }
})

test('an order without a description is named after its payment', async () => {
  for (const description of [null, '', ' \n']) {
    assert.match(
      await sentFor({ description }),
      new RegExp(`"productName":\\["Payment ${id.slice(-8)}"\\]`),
    )
  }
  assert.match(await sentFor({ description: 'a\ud800;b' }), /"productName":\["a\ufffd;b"\]/)
})

test('of the payer is sent what is known, and nothing else', async () => {
  const cases: readonly (readonly [customer: object | null, sent: object])[] = [
    [null, {}],
    [{ email: 7, name: ['x'], phone: null, country: 'ua', ip: '1.1.1.1' }, {}],
    [{ name: ' ', email: ' ' }, {}],
    [{ name: 'Madonna' }, { clientFirstName: 'Madonna' }],
    [
      { first_name: 'Ada', name: 'x y' },
      { clientFirstName: 'Ada', clientLastName: 'y' },
    ],
    [
      { last_name: 'Byron', country: 'GBR' },
      { clientLastName: 'Byron', clientCountry: 'GBR' },
    ],
    [{ name: 'Ada de la Cruz' }, { clientFirstName: 'Ada', clientLastName: 'de la Cruz' }],
  ]
  for (const [customer, sent] of cases) {
    const body = await sentFor({ customer: customer as Payment['customer'] })
    const fields = Object.entries(JSON.parse(body) as object)
    assert.deepEqual(Object.fromEntries(fields.filter(([name]) => name.startsWith('client'))), sent)
  }
})

test('a checkout lasts as asked, but a minute at the least, and then says so', async () => {
  const cases: readonly (readonly [seconds: number, orderTimeout: number])[] = [
    [60, 60],
    [59.2, 60],
    [7200.5, 7201],
    [59, 60],
    [-5, 60],
  ]
  for (const [seconds, orderTimeout] of cases) {
    await using here = await startShop()
    const expiresAt = new Date(now.getTime() + seconds * 1000)
    const opened = await open({ ...checkoutOf(), expiresAt }, here.context())
    assert.match(here.asked[0]?.request.body ?? '', new RegExp(`"orderTimeout":${orderTimeout},`))
    const raised = seconds > 59 ? undefined : new Date(now.getTime() + 60_000)
    assert.deepEqual(opened.expiresAt, raised, String(seconds))
  }
})

test('a reply without a usable URL is no checkout', async () => {
  const bodies: readonly unknown[] = [
    {},
    [],
    { invoiceUrl: 'https://secure.wayforpay.com/i' },
    { reasonCode: 1100, invoiceUrl: null },
    { reasonCode: 1100, invoiceUrl: 'javascript:alert(1)' },
    { reasonCode: 1100, invoiceUrl: ['https://secure.wayforpay.com/i'] },
    { reasonCode: 1100, invoiceUrl: 'https://secure.wayforpay.com/i', orderReference: 'another' },
  ]
  for (const body of bodies) {
    await using api = await startAnswering({ body })
    const pending = open(checkoutOf(), api.context())
    await assert.rejects(pending, { code: 'provider_reply_invalid' }, JSON.stringify(body))
  }
})

test('an error is a refusal only where nothing was certainly done', async () => {
  await checkErrorCodes((context) => open(checkoutOf(), context))
})

test('an order that WayForPay has already gives no URL, and leaves it open', async () => {
  await using here = await startShop()
  await open(checkoutOf(), here.context())
  const again = open(checkoutOf(), here.context())
  await assert.rejects(again, { code: 'provider_reply_invalid', providerCode: '1112' })
  assert.equal(here.checkouts(id), 1)
})

test('an open checkout is closed by REMOVE_INVOICE, and only an open one', async () => {
  await using here = await startShop()
  const close = (fields: Partial<Payment> = {}) => closeCheckout(pollOf(fields), here.context())
  assert.equal(await close(), 'not_open')
  await open(checkoutOf(), here.context())
  assert.equal(await close(), 'closed')
  assert.equal(await close(), 'not_open')
  assert.deepEqual(JSON.parse(here.asked.at(-1)?.request.body ?? ''), {
    transactionType: 'REMOVE_INVOICE',
    merchantAccount: shop.account,
    orderReference: id,
    // Made with OpenSSL.
    merchantSignature: 'de1e6adccc71707001f27ac6882e8d5f',
    apiVersion: 1,
  })
  here.pay(id)
  assert.equal(await close(), 'not_open')
  const { asked, config } = here
  const before = asked.length
  const secret_key = `a_secret_of_tomorrow,${config['secret_key']}`
  assert.equal(await closeCheckout(pollOf(), here.context({ config: { secret_key } })), 'not_open')
  assert.deepEqual(here.takeFaults(), ['REMOVE_INVOICE is signed wrongly'])
  assert.equal(asked.length, before + 2)
})

test('a checkout of which nobody knows whether it is closed is an error', async () => {
  await checkErrorCodes((context) => closeCheckout(pollOf(), context), [1100, 1113, 1126, 1127])
})

test('money that WayForPay does not take is told before anybody is asked', () => {
  const fault = (amount: bigint, currency: string) => wayforpay.moneyFault?.({ amount, currency })
  for (const currency of ['UAH', 'USD', 'EUR']) {
    assert.equal(fault(1n, currency), undefined)
    assert.equal(fault(999_999_999_999_999n, currency), undefined)
    assert.match(fault(1_000_000_000_000_000n, currency) ?? '', /13 whole digits/)
    assert.match(fault(0n, currency) ?? '', /nothing/)
  }
  for (const currency of ['PLN', 'JPY', 'uah', 'XXX']) {
    assert.match(fault(payment.amount, currency) ?? '', /UAH, USD, EUR only/)
  }
})
