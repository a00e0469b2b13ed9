import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import type { SubscriptionStatement } from '../../src/subscriptions/statement.ts'
import { refusal } from '../money/scripted.ts'
import { managingProvider } from '../subscriptions/managing-provider.ts'
import { stating } from '../support/stating-gateway.ts'
import { startService, type Service } from './service.ts'

type Json = Record<string, unknown>

let service: Service
const provider = managingProvider()
const { script, checkouts, stated } = provider
const answers = { ...script }
before(async () => {
  service = await startService({
    billing: { extraGateways: [stating, { ...provider.gateway, title: 'Scripted Pay' }] },
  })
})
after(() => service[Symbol.asyncDispose]())
beforeEach(() => {
  Object.assign(script, answers)
  checkouts.length = 0
})

const pathOf = (id: string) => `/billing/subscriptions/${id}/pay`
const ask = (path: string, init: RequestInit = {}) =>
  fetch(service.listening.url + path, {
    redirect: 'manual',
    headers: { 'accept-language': 'en', 'sec-fetch-site': 'same-origin' },
    ...init,
  })
const textOf = async (id: string, query = '') => {
  const answer = await ask(pathOf(id) + query)
  assert.equal(answer.status, 200)
  return answer.text()
}
const create = (input: Partial<CreateSubscriptionInput> = {}) =>
  service.core.subscriptions.create({
    gateway: 'scripted',
    managedBy: 'provider',
    payable: { type: 'account', id: newUuid() },
    amount: 4_999,
    currency: 'USD',
    every: 'month',
    description: 'Gold <membership>',
    ...input,
  })
const paymentsOf = async (id: string) => (await service.core.subscriptions.get(id))?.payments ?? []
/** Begun at the provider, which says this of it. */
const begun = async (
  fields: Partial<SubscriptionStatement> = {},
  input: Partial<CreateSubscriptionInput> = {},
) => {
  const { subscription, payment } = await create(input)
  assert.ok(payment)
  const { reference } = provider.begin(payment)
  await service.core.subscriptions.sync(subscription.id)
  const statement = stated.get(reference)
  assert.ok(statement)
  stated.set(reference, { ...statement, ...fields })
  await service.core.subscriptions.sync(subscription.id)
  return { id: subscription.id, statement }
}

test('its page leads to the checkout that it begins with, and to no other', async () => {
  const { subscription, payment } = await create()
  const text = await textOf(subscription.id)
  assert.match(
    text,
    new RegExp(
      `Your subscription[^]*\\$49\\.99[^]*every month[^]*page of Scripted Pay[^]*href="/billing/pay/${payment?.id}"`,
    ),
  )
  assert.match(text, /Gold &lt;membership&gt;/)
  assert.doesNotMatch(text, /<button|<form/)
  const pressed = await ask(pathOf(subscription.id), { method: 'POST' })
  assert.deepEqual(
    [pressed.status, pressed.headers.get('location')],
    [303, pathOf(subscription.id)],
  )
  assert.deepEqual([checkouts.length, (await paymentsOf(subscription.id)).length], [1, 1])
})

test('before a trial it says when something is charged, and what', async () => {
  const { subscription } = await create({ trialDays: 14 })
  assert.match(
    await textOf(subscription.id),
    /\$49\.99[^]*Nothing is charged until[^]*href="\/billing\/pay\//,
  )
  assert.match(await textOf(subscription.id, '?lang=uk'), /Пробний період безкоштовний до/)
})

test('while it is charged by its provider there is nothing to press, whatever is owed', async () => {
  for (const [fields, english, ukrainian] of [
    [{}, /Nothing to pay[^]*Scripted Pay charges the next period/, /Scripted Pay спише самостійно/],
    [
      { cancelAt: new Date('2099-03-01T12:00:00Z') },
      /Nothing to pay[^]*It ends on[^]*2099/,
      /Гроші більше не списуватимуться[^]*2099/,
    ],
    [{ status: 'paused' }, /Subscription paused[^]*Nothing is charged/, /Підписку призупинено/],
    [
      { status: 'canceled', endedAt: new Date() },
      /Subscription canceled[^]*This subscription is over/,
      /Підписку скасовано/,
    ],
  ] as const) {
    const { id } = await begun(fields)
    const text = await textOf(id)
    assert.match(text, english)
    assert.match(await textOf(id, '?lang=uk'), ukrainian)
    assert.doesNotMatch(text, /<button|<form|billing\/pay\//)
    assert.equal((await ask(pathOf(id), { method: 'POST' })).status, 303)
    assert.equal((await paymentsOf(id)).length, 1)
  }
})

test('one that is past due is charged again by its provider alone, and the page says so', async () => {
  const length = 30 * 86_400_000
  const { id, statement } = await begun()
  const { currentPeriod } = statement
  assert.ok(currentPeriod)
  const startsAt = currentPeriod.endsAt
  stated.set(statement.reference, {
    ...statement,
    status: 'past_due',
    currentPeriod: { startsAt, endsAt: new Date(startsAt.getTime() + length) },
    failure: { attempt: 1, nextAttemptAt: null, needs: 'nothing' },
  })
  await service.core.subscriptions.sync(id)
  assert.equal((await service.core.subscriptions.get(id))?.status, 'past_due')
  const text = await textOf(id)
  assert.match(text, /Payment due[^]*could not be charged[^]*Scripted Pay tries again by itself/)
  assert.match(await textOf(id, '?lang=uk'), /Scripted Pay спробує ще раз самостійно/)
  assert.doesNotMatch(text, /<button|<form|billing\/pay\//)
})

test('a checkout that is not there, or not any more, is said', async () => {
  script.open = async () => {
    throw refusal()
  }
  const id = newUuid()
  await assert.rejects(create({ id }), { code: 'checkout_refused' })
  assert.match(await textOf(id), /Not ready yet[^]*has not begun yet/)
  assert.match(await textOf(id, '?lang=uk'), /ще не почалася/)
})

async function api(method: string, path: string, body?: unknown) {
  const answer = await service.api(path, {
    method,
    headers: { authorization: `Bearer test-token-for-the-management-api` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, body: (await answer.json()) as Json }
}

test('the API makes, asks about and ends one', async () => {
  const payable = { type: 'account', id: newUuid() }
  const made = await api('POST', '/subscriptions', {
    gateway: 'scripted',
    managed_by: 'provider',
    payable,
    amount: 4_999,
    currency: 'USD',
    every: 'month',
  })
  assert.equal(made.status, 201)
  const { subscription, payment } = made.body as { subscription: Json; payment: Json }
  assert.deepEqual(
    [subscription['managed_by'], subscription['provider_reference']],
    ['provider', null],
  )
  assert.equal(payment['checkout_url'], 'https://provider.example/subscribe')
  const id = String(subscription['id'])
  const found = await service.core.payments.get(String(payment['id']))
  assert.ok(found)
  const { reference } = provider.begin(found)
  const synced = await api('POST', `/subscriptions/${id}/sync`)
  assert.deepEqual(
    [synced.status, synced.body['status'], synced.body['provider_reference']],
    [200, 'active', reference],
  )
  const refused = await api('POST', `/subscriptions/${id}/change`, { payment_method_id: null })
  assert.deepEqual([refused.status, refused.body['code']], [422, 'operation_unsupported'])
  assert.match(String(refused.body['message']), /^payment_method_id cannot be changed/)
  const ended = await api('POST', `/subscriptions/${id}/cancel`, { at: 'now' })
  assert.deepEqual([ended.status, ended.body['status']], [200, 'canceled'])
  assert.equal((await api('POST', `/subscriptions/${id}/sync`, { now: true })).status, 422)
})
