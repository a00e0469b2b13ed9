import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transaction, transactionId, type Fields } from '../../../test/gateways/paddle/events.ts'
import {
  answering,
  opened,
  paymentOf,
  pollOf,
  requestsTo,
  startProviderFor,
} from '../../../test/gateways/paddle/operations.ts'
import { failureOf } from '../../../test/providers/kit.ts'
import { paddle } from './index.ts'
import { pollPayment, pollPayments } from './poll.ts'

const idOf = (index: number) => `0198f0aa-4b1c-7cc3-9d52-${String(index).padStart(12, '0')}`
const asked = (payments: readonly ReturnType<typeof paymentOf>[]) =>
  payments.map((payment) => pollOf(payment, new Date()))

const idsOf = (payments: readonly ReturnType<typeof paymentOf>[]) => payments.map(({ id }) => id)

async function openedMany(count: number, context: Parameters<typeof opened>[0]) {
  const payments: ReturnType<typeof paymentOf>[] = []
  for (let index = 0; index < count; index += 1) {
    payments.push(await opened(context, { id: idOf(index) }))
  }
  return payments
}

test('one list says of thirty transactions what a poll says of each', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const payments = await openedMany(30, context)
  provider.decline(idOf(1))
  provider.expire(idOf(2))
  const before = provider.asked.length
  assert.equal(paddle.pollTogether?.most, 30)
  const said = await pollPayments(asked(payments), context)
  assert.deepEqual(requestsTo(provider).slice(before), ['GET /transactions'])
  const query = new URL(provider.asked.at(-1)?.request.target ?? '', provider.base).searchParams
  assert.equal(query.get('id'), payments.map((one) => one.checkoutReference).join(','))
  for (const payment of payments) {
    assert.deepEqual(
      said.get(payment.id),
      await pollPayment(pollOf(payment, new Date()), context),
      payment.id,
    )
  }
  const standings = payments.slice(0, 4).map(({ id }) => said.get(id)?.standing)
  assert.deepEqual(standings, ['open', 'open', 'unpaid', 'open'])
})

test('a transaction that took money is left out, for its adjustments are in another list', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const payments = await openedMany(3, context)
  provider.pay(idOf(1))
  const said = await pollPayments(asked(payments), context)
  assert.deepEqual([...said.keys()], [idOf(0), idOf(2)])
})

test('a transaction that Paddle does not list is left out: another account has it', async (t) => {
  const { context } = await startProviderFor(t)
  const [mine] = await openedMany(1, context)
  assert.ok(mine)
  const theirs = paymentOf({ id: idOf(7), checkoutReference: transactionId })
  const said = await pollPayments(asked([theirs, mine]), context)
  assert.deepEqual([...said.keys()], [mine.id])
})

test('a reference of the merchant that is no id of a transaction spoils no list', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const mine = await openedMany(2, context)
  const strange = ['', 'order 7', `${transactionId},${transactionId}`, 'pro_01another'].map(
    (checkoutReference, index) => paymentOf({ id: idOf(7 + index), checkoutReference }),
  )
  const said = await pollPayments(asked([...strange, ...mine]), context)
  assert.deepEqual([...said.keys()], idsOf(mine))
  const query = new URL(provider.asked.at(-1)?.request.target ?? '', provider.base).searchParams
  assert.equal(query.get('id'), mine.map((one) => one.checkoutReference).join(','))
  const before = provider.asked.length
  assert.equal((await pollPayments(asked(strange), context)).size, 0)
  assert.equal(provider.asked.length, before)
})

test('only one page is read, however few Paddle puts on it', async (t) => {
  const { provider, context } = await startProviderFor(t)
  const payments = await openedMany(3, context)
  provider.account.pageLimit = 2
  const before = provider.asked.length
  assert.equal((await pollPayments(asked(payments), context)).size, 2)
  assert.equal(provider.asked.length - before, 1)
})

test('a transaction that is open in words that we do not know is unclear', async (t) => {
  const listed = [transaction({ status: 'something_new' })]
  const { context } = await listing(t, listed)
  const payment = paymentOf({ checkoutReference: transactionId })
  const said = await pollPayments(asked([payment]), context)
  assert.equal(said.get(payment.id)?.standing, 'unclear')
})

test('a list of something else than was asked for is refused as a whole', async (t) => {
  const mine = transaction({ status: 'ready' })
  const lists: readonly (readonly Fields[])[] = [
    [mine, transaction({ id: 'txn_01another', status: 'ready' })],
    [mine, transaction({ status: 'canceled' })],
    [mine, transaction({ id: null })],
    [mine, transaction({ id: 7 })],
  ]
  for (const listed of lists) {
    const { context } = await listing(t, listed)
    const polling = pollPayments(asked([paymentOf({ checkoutReference: transactionId })]), context)
    assert.equal((await failureOf(polling)).code, 'provider_reply_invalid')
  }
})

function listing(t: Parameters<typeof answering>[0], data: readonly Fields[]) {
  return answering(t, () => ({ body: { data, meta: { pagination: { has_more: false } } } }))
}
