import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { createPayment, settle, startPayerService } from '../pages/payer-service.ts'
import { sumsOf } from './invoice-sums.ts'
import { origin, type Service } from './service.ts'

let service: Service
before(async () => {
  service = await startPayerService({ invoices: { seller: { name: 'Seller' } } })
})
after(() => service[Symbol.asyncDispose]())

const ask = (path: string, language?: string, init: RequestInit = {}) =>
  fetch(service.listening.url + path, {
    redirect: 'manual',
    // Without one, fetch would say that it accepts all of them.
    headers: { 'accept-language': language ?? '' },
    ...init,
  })
const pageOf = async (input: Partial<CreatePaymentInput>, query = '', accepted = '') => {
  const { id } = await createPayment(service, input)
  return ask(`/billing/return/${id}${query}`, accepted)
}
const languageOf = async (answer: Response) => {
  const [, tag] = /<html lang="([^"]*)">/.exec(await answer.text()) ?? []
  assert.equal(answer.headers.get('content-language'), tag)
  assert.equal(answer.headers.get('vary'), 'accept-language')
  return tag
}

describe('the language of a page', () => {
  const inEuros = { currency: 'EUR' }
  const inEnglish = { customer: { locale: 'en' } }
  for (const [why, input, query, accepted, tag] of [
    ['is that of its address before all others', inEnglish, '?lang=uk', 'en', 'uk'],
    ['is that of its address, whatever the region', {}, '?lang=en-GB', 'uk', 'en'],
    ['is that of the customer before the browser’s', inEnglish, '', 'uk', 'en'],
    ['is the customer’s where the address names none', inEnglish, '?lang=', 'uk', 'en'],
    ['is the customer’s where the address names another', inEnglish, '?lang=de', 'uk', 'en'],
    ['is the browser’s first one', {}, '', 'en-US,en;q=0.9,uk;q=0.8', 'en'],
    ['is the browser’s first one by weight', inEuros, '', 'en;q=0.1, uk-UA;q=0.7', 'uk'],
    [
      'is the browser’s next one where there is none',
      inEuros,
      '',
      'de-AT, fr;q=0.9, uk;q=0.2',
      'uk',
    ],
    ['is never one that the browser refuses', inEuros, '', 'uk;q=0, de', 'en'],
    ['is Ukrainian for hryvnias if nothing else is known', {}, '', '', 'uk'],
    ['is Ukrainian for hryvnias if no language is there', {}, '', 'de, *;q=0.5', 'uk'],
    ['is English for other money if nothing else is known', inEuros, '', '*', 'en'],
    [
      'is not looked for in a header longer than any browser sends',
      inEuros,
      '',
      `uk,${'aa,'.repeat(100)}`,
      'en',
    ],
    ['is never what somebody made up', inEuros, '?lang=__proto__', 'constructor, <b>;q="', 'en'],
    [
      'ignores a customer’s locale that is none here',
      { customer: { locale: 'de' } },
      '',
      'en',
      'en',
    ],
  ] as const) {
    test(`${why}: ${tag}`, async () => {
      assert.equal(await languageOf(await pageOf(input, query, accepted)), tag)
    })
  }

  test('is that of texts, money and dates alike', async () => {
    const { id } = await createPayment(service, { currency: 'UAH' })
    const read = async (query: string) => (await ask(`/billing/return/${id}${query}`)).text()
    const uk = await read('?lang=uk')
    assert.match(uk, /<title>Очікуємо підтвердження<\/title>/)
    assert.match(uk, /<p class="amount">1 250,00 ₴<\/p>/)
    assert.match(uk, />\d+ \p{L}+ 20\d\d р\. о \d\d:\d\d/u)
    const en = await read('?lang=en')
    assert.match(en, /<title>Waiting for confirmation<\/title>/)
    assert.match(en, /<p class="amount">UAH 1,250\.00<\/p>/)
    assert.match(en, />\w+ \d+, 20\d\d at \d+:\d\d [AP]M/)
  })

  test('is that of the whole document, before its customer’s and the browser’s', async () => {
    const { id } = await createPayment(service, inEnglish)
    const invoice = await service.core.invoices.issue(id)
    const path = `/billing/invoices/${invoice.id}`
    const stampOf = (page: string) => /<p class="stamp[^"]*">([^<]*)</.exec(page)?.[1]
    const read = async (language: string) => {
      const answer = await ask(`${path}?lang=${language}`, language === 'uk' ? 'en' : 'uk')
      const page = await answer.clone().text()
      const heading = /<p class="kicker">([^<]*)</.exec(page)?.[1]
      const [total] = sumsOf(page)
      return { tag: await languageOf(answer), heading, total, stamp: stampOf(page) }
    }
    const inUkrainian = { tag: 'uk', heading: 'Рахунок', total: 'Разом 1 250,00 ₴' }
    const english = { tag: 'en', heading: 'Invoice', total: 'Total UAH 1,250.00' }
    assert.deepEqual(await read('uk'), { ...inUkrainian, stamp: undefined })
    assert.deepEqual(await read('en'), { ...english, stamp: undefined })
    await settle(service, id, 'success')
    assert.deepEqual(await read('uk'), { ...inUkrainian, stamp: 'Сплачено' })
    assert.deepEqual(await read('en'), { ...english, stamp: 'Paid' })
    const other = await createPayment(service, inEnglish)
    const voided = await service.core.invoices.issue(other.id)
    await service.core.invoices.void(voided.id)
    for (const [language, stamp] of [
      ['uk', 'Анульовано'],
      ['en', 'Void'],
    ] as const) {
      const answer = await ask(`/billing/invoices/${voided.id}?lang=${language}`)
      assert.equal(stampOf(await answer.text()), stamp)
    }
    assert.equal(await languageOf(await ask(path, 'uk')), 'en')
  })

  test('is there on pages that know no payment', async () => {
    for (const path of [
      '/billing/pay/x',
      '/billing/fake/checkout/x',
      '/billing/paddle/checkout',
      '/billing/invoices/x',
    ]) {
      assert.equal(await languageOf(await ask(path, 'uk')), 'uk', path)
      assert.equal(await languageOf(await ask(`${path}?lang=uk`, 'en')), 'uk', path)
      assert.equal(await languageOf(await ask(path, '')), 'en', path)
    }
  })

  test('of an address is never repeated as it was written', async () => {
    const answer = await pageOf(inEuros, '?lang=uk-x-%22%3E%3Cscript')
    assert.equal((await answer.text()).includes('<script>'), false)
    const own = await pageOf(inEuros, '?lang=uk-x-attack')
    assert.equal((await own.text()).includes('attack'), false)
  })
})

describe('a language that was chosen', () => {
  test('stays from the link to the checkout to the return page and back', async () => {
    const { id } = await createPayment(service, { currency: 'EUR' })
    const link = await ask(`/billing/pay/${id}?lang=uk-UA`, 'en')
    assert.equal(link.headers.get('location'), `${origin}/billing/fake/checkout/${id}?lang=uk`)
    const body = new URLSearchParams({ result: 'failure' })
    const pressed = await ask(`/billing/fake/checkout/${id}?lang=uk`, 'en', {
      method: 'POST',
      body,
    })
    assert.equal(pressed.headers.get('location'), `/billing/return/${id}?lang=uk`)
    await settle(service, id, 'failure')
    const text = await (await ask(`/billing/return/${id}?lang=uk`, 'en')).text()
    assert.ok(text.includes(`href="/billing/pay/${id}?lang=uk"`), text)
    const posted = await ask(`/billing/return/${id}?lang=uk&lang=x`, 'en', { method: 'POST', body })
    assert.equal(posted.headers.get('location'), `/billing/return/${id}?lang=uk`)
  })

  test('by the merchant leads to a page of ours that knows no payment', async () => {
    const { id } = await createPayment(service, {
      gateway: 'linkpay',
      description: `${origin}/billing/paddle/checkout?_ptxn=txn_1`,
      customer: { locale: 'uk' },
    })
    const { headers } = await ask(`/billing/pay/${id}`, 'en')
    const location = `${origin}/billing/paddle/checkout?_ptxn=txn_1&lang=uk`
    assert.equal(headers.get('location'), location)
    const text = await (await ask('/billing/paddle/checkout?_ptxn=txn_1&lang=uk', 'en')).text()
    assert.ok(text.includes('Відкриваємо сторінку оплати'))
  })

  test('adds nothing to the address of a provider', async () => {
    const url = 'https://provider.example/pay?signed=1'
    const { id } = await createPayment(service, { gateway: 'linkpay', description: url })
    const { headers } = await ask(`/billing/pay/${id}?lang=uk`)
    assert.equal(headers.get('location'), url)
  })
})
