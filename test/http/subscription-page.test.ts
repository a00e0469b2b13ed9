import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type {
  ChangeSubscriptionInput,
  CreateSubscriptionInput,
} from '../../src/money/subscription-input.ts'
import { opensAt, refusal, scriptedGateway, type Script } from '../money/scripted.ts'
import { takesMoney, type Till } from '../subscriptions/subscribing.ts'
import { statedCall, stating } from '../support/stating-gateway.ts'
import { eventually, origin, startService, type Service } from './service.ts'

let service: Service
const script: Script = {}
const till: Till = { asked: [], debits: [] }
let opened = 0
before(async () => {
  service = await startService({
    billing: {
      extraGateways: [stating, { ...scriptedGateway(script), title: 'Scripted Pay' }],
    },
  })
})
after(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  takesMoney(script, till)
  opened = 0
  script.open = async () => {
    opened += 1
    return opensAt('https://provider.example/pay')()
  }
})

const ask = (path: string, init: RequestInit = {}) =>
  fetch(service.listening.url + path, {
    redirect: 'manual',
    headers: { 'accept-language': 'en' },
    ...init,
  })
const pathOf = (id: string) => `/billing/subscriptions/${id}/pay`
const press = (id: string, headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' }) =>
  ask(pathOf(id), { method: 'POST', headers: { 'accept-language': 'en', ...headers } })
const textOf = async (id: string, query = '') => (await ask(pathOf(id) + query)).text()

const create = (input: Partial<CreateSubscriptionInput> = {}) =>
  service.core.subscriptions.create({
    gateway: 'scripted',
    payable: { type: 'account', id: newUuid() },
    amount: 4_999,
    currency: 'USD',
    every: 'month',
    description: 'Gold <membership>',
    ...input,
  })
const paymentsOf = async (id: string) => (await service.core.subscriptions.get(id))?.payments ?? []
/** A card that was saved with a payment. */
const card = async () => {
  const payment = await service.core.payments.create({
    gateway: 'scripted',
    amount: 1,
    currency: 'USD',
    payable: { type: 'order', id: newUuid() },
    saveCard: true,
  })
  await service.core.receive(
    statedCall(
      [
        {
          type: 'payment_method',
          status: 'attached',
          reference: `pm_${payment.id}`,
          payment: { id: payment.id },
        },
      ],
      'scripted',
    ),
  )
  return eventually(async () => {
    const { data } = await service.core.paymentMethods.list({ paymentId: payment.id })
    return data[0]?.id
  })
}
/** In its trial, so that nothing has been opened yet. */
const trial = async (input: Partial<CreateSubscriptionInput> = {}) =>
  (await create({ trialDays: 14, ...input })).subscription

test('27: a scanner that opens the page a hundred times makes nothing', async () => {
  const { id } = await trial()
  // Events get their places in the feed a moment later.
  const placed = await eventually(async () => {
    const found = await service.core.subscriptions.get(id)
    return typeof found?.events[0]?.position === 'number' ? found : undefined
  })
  const before = JSON.stringify(placed)
  for (let round = 0; round < 100; round += 1) {
    const method = round % 2 === 0 ? 'GET' : 'HEAD'
    assert.equal((await ask(pathOf(id), { method })).status, 200)
  }
  assert.equal(JSON.stringify(await service.core.subscriptions.get(id)), before)
  assert.deepEqual([opened, (await paymentsOf(id)).length], [0, 0])
})

test('27: its button opens a checkout once, and leads to the one that is open after that', async () => {
  const { id } = await trial()
  const begun = Date.now()
  const [first, second] = [await press(id), await press(id)]
  const ended = Date.now()
  const [payment, ...others] = await paymentsOf(id)
  assert.ok(payment)
  assert.deepEqual(others, [])
  for (const answer of [first, second]) {
    assert.equal(answer.status, 303)
    assert.equal(answer.headers.get('location'), `/billing/pay/${payment.id}`)
  }
  assert.equal(opened, 1)
  assert.deepEqual([payment.saveCard, payment.checkoutUrl], [true, 'https://provider.example/pay'])
  const link = await ask(`/billing/pay/${payment.id}`)
  assert.equal(link.headers.get('location'), 'https://provider.example/pay')
  const openedAt = (payment.expiresAt?.getTime() ?? 0) - 3_600_000
  assert.ok(openedAt >= begun && openedAt <= ended, `${openedAt}: ${begun} to ${ended}`)
})

test('presses at the same time open one checkout', async () => {
  const { id } = await trial()
  const answers = await Promise.all([press(id), press(id), press(id), press(id)])
  assert.ok(answers.every(({ status }) => status === 303 || status === 200))
  assert.deepEqual([opened, (await paymentsOf(id)).length], [1, 1])
})

test('the page has the headers of all pages for payers, and is for no search engine', async () => {
  const { id } = await trial()
  const answer = await ask(pathOf(id))
  const text = await answer.text()
  assert.match(text, /<meta name="robots" content="noindex"/)
  assert.match(text, /Gold &lt;membership&gt;/)
  assert.doesNotMatch(text, /<membership>/)
  for (const [name, value] of [
    ['cache-control', /^no-store$/],
    ['x-content-type-options', /^nosniff$/],
    [
      'content-security-policy',
      /default-src 'none'.*form-action 'self' https:.*frame-ancestors 'none'/,
    ],
    ['referrer-policy', /^same-origin$/],
  ] as const) {
    assert.match(answer.headers.get(name) ?? '', value)
  }
  assert.equal((await ask(pathOf(id), { method: 'PUT' })).status, 405)
})

test('another site cannot press the button', async () => {
  const { id } = await trial()
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    {},
  ]) {
    assert.equal((await press(id, headers as Record<string, string>)).status, 403)
  }
  assert.deepEqual([opened, (await paymentsOf(id)).length], [0, 0])
  // Over plain HTTP browsers send the origin alone.
  assert.equal((await press(id, { origin })).status, 303)
})

test('one subscription may be pressed ten times a minute', async () => {
  const { id } = await trial()
  const answers = []
  for (let round = 0; round < 11; round += 1) answers.push((await press(id)).status)
  assert.deepEqual(
    answers.slice(0, 10),
    Array.from({ length: 10 }, () => 303),
  )
  assert.equal(answers[10], 429)
})

test('what is owed is said, and that nothing is', async () => {
  const unpaid = (await create()).subscription
  assert.match(
    await textOf(unpaid.id),
    /Your subscription[^]*\$49\.99[^]*every month[^]*<button class="go">/,
  )
  const quarterly = (await create({ every: '3 months' })).subscription
  assert.match(await textOf(quarterly.id), /every 3 months/)
  const inUkrainian = await ask(`${pathOf(quarterly.id)}?lang=uk`)
  assert.match(await inUkrainian.text(), /кожні 3 місяці/)
  const inTrial = await trial()
  assert.match(
    await textOf(inTrial.id),
    /You are in your trial[^]*free until[^]*card is saved[^]*<button class="go">/,
  )
  const paid = (await create({ paymentMethodId: await card() })).subscription
  const text = await textOf(paid.id)
  assert.match(text, /Nothing to pay[^]*It is paid until/)
  assert.doesNotMatch(text, /<button/)
  await service.core.subscriptions.pause(paid.id, { at: 'now' })
  assert.match(await textOf(paid.id), /Subscription paused/)
  await service.core.subscriptions.cancel(paid.id, { at: 'now' })
  const ended = await textOf(paid.id)
  assert.match(ended, /Subscription canceled[^]*This subscription is over/)
  assert.doesNotMatch(ended, /<button/)
  // A page that was open all the while: it is shown anew.
  const late = await press(paid.id)
  assert.deepEqual([late.status, late.headers.get('location')], [303, pathOf(paid.id)])
})

test('other money from the next period on is not said to be the price of this one', async () => {
  const { subscription } = await create()
  const change = (input: ChangeSubscriptionInput) =>
    service.core.subscriptions.change(subscription.id, input)
  assert.match(await textOf(subscription.id), /\$49\.99<[^]*>every month</)
  await change({ amount: 19_900, every: 'year' })
  assert.match(await textOf(subscription.id), /\$49\.99<[^]*>then \$199\.00 every year</)
  await change({ amount: 4_999, every: 'week' })
  assert.match(await textOf(subscription.id), /\$49\.99<[^]*>then \$49\.99 every week</)
})

test('a charge under way leaves nothing to press; one that waits for the payer leads there', async () => {
  script.chargeSavedCard = async () => {
    throw new QuittanceError('provider_unreachable', 'no answer')
  }
  const charging = (await create({ paymentMethodId: await card() })).subscription
  const text = await textOf(charging.id)
  assert.match(text, /Payment under way/)
  assert.doesNotMatch(text, /<button/)
  assert.equal((await press(charging.id)).headers.get('location'), pathOf(charging.id))

  script.chargeSavedCard = async () => ({ outcomes: [], redirectUrl: 'https://bank.example/3ds' })
  const { subscription, payment } = await create({ paymentMethodId: await card() })
  assert.ok(payment)
  assert.match(
    await textOf(subscription.id),
    new RegExp(`Confirm the payment[^]*href="/billing/pay/${payment.id}"`),
  )
  const answer = await press(subscription.id)
  assert.equal(answer.headers.get('location'), `/billing/pay/${payment.id}`)
  const link = await ask(`/billing/pay/${payment.id}`)
  assert.equal(link.headers.get('location'), 'https://bank.example/3ds')
  assert.equal((await paymentsOf(subscription.id)).length, 1)
})

test('a charge that nobody can confirm on a page leads to none', async () => {
  script.chargeSavedCard = async () => ({ outcomes: [], needsPayer: true })
  const { subscription } = await create({ paymentMethodId: await card() })
  const text = await textOf(subscription.id)
  assert.match(text, /Confirm the payment[^]*Look again/)
  assert.doesNotMatch(text, /<button|billing\/pay\//)
  const answer = await press(subscription.id)
  assert.equal(answer.headers.get('location'), pathOf(subscription.id))
})

test('a provider that does not answer, or refuses, is said on a page of ours', async () => {
  script.open = async () => {
    throw new QuittanceError('provider_unreachable', 'no answer')
  }
  const { id } = await trial()
  assert.match(await (await press(id)).text(), /Not ready yet/)
  assert.match(await textOf(id), /Not ready yet/)
  script.open = async () => {
    throw refusal()
  }
  const refused = await trial()
  assert.match(await (await press(refused.id)).text(), /could not be begun/)
})

test('it is in the language of the customer, of the address, of the browser', async () => {
  const { id } = await trial({ customer: { locale: 'uk' } })
  assert.match(await textOf(id), /<html lang="uk">[^]*У вас пробний період/)
  assert.match(await textOf(id, '?lang=en'), /<html lang="en">[^]*You are in your trial/)
  const kept = await ask(`${pathOf(id)}?lang=en`, {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
  })
  assert.match(kept.headers.get('location') ?? '', /\?lang=en$/)
})

test('what nobody has is said to be unknown, whatever it looks like', async () => {
  for (const id of [newUuid(), '7', 'a%00b', '%2e%2e']) {
    const answer = await ask(pathOf(id))
    assert.equal(answer.status, 404, id)
  }
  assert.equal((await press(newUuid())).status, 404)
})
