import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import { dayAfter } from '../../src/kernel/day.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine, {
      search: { metadata: ['invoice_no'] },
      invoices: { seller: { name: 'A shop' } },
    })
  })
  after(() => billing.close())

  const create = (input: Partial<CreatePaymentInput> = {}) => newPayment(billing.core, input)
  const run = (text: string) => sql.raw(text).execute(billing.database.db)
  /** What is found, and by what. */
  const found = async (text: string) => {
    const { data } = await billing.core.inspect.find(text)
    return data.map(({ kind, id, by }) => `${kind} ${id} by ${by}`)
  }

  test('a payment is found by each of its ids and references, and says by what', async () => {
    const { id } = await create({
      gateway: 'stripe',
      payable: { type: 'ticket', id: 'a-77' },
      providerReference: 'pi_found',
      checkoutReference: 'cs_found',
      customer: { id: 'u-77', email: 'Found@Example.test', phone: '+38 (067) 765-43-21' },
      metadata: { invoice_no: 'N 77', other: 'not searched' },
    })
    await run(`update billing.payments set subscription_reference = 'sub_found' where id = '${id}'`)
    const expected = {
      [id]: 'id',
      [` ${id.toUpperCase()} `]: 'id',
      pi_found: 'provider_reference',
      cs_found: 'checkout_reference',
      sub_found: 'subscription_reference',
      'ticket:a-77': 'payable',
      'ticket/a-77': 'payable',
      'a-77': 'payable_id',
      'u-77': 'customer_id',
      'found@example.TEST': 'email',
      '380677654321': 'phone',
      '+380 67 765 43 21': 'phone',
      '00380-67-765-43-21': 'phone',
      'N 77': 'metadata',
    }
    for (const [text, by] of Object.entries(expected)) {
      assert.deepEqual(await found(text), [`payment ${id} by ${by}`], text)
    }
    for (const text of ['not searched', 'pi_', 'PI_FOUND', 'pi_found%', 'ticket:', 'ticket:a-7']) {
      assert.deepEqual(await found(text), [], text)
    }
  })

  test('a payment has enough with it to show a row, in JSON too', async () => {
    const payment = await create({ payable: { type: 'order', id: 'of a row' }, amount: 1_050 })
    const result = await billing.core.inspect.find('of a row')
    const { id, gateway, live, status, amount, currency, payable, createdAt } = payment
    const shown = {
      id,
      gateway,
      live,
      status,
      currency,
      payable,
      by: 'payable_id',
      kind: 'payment',
    }
    assert.deepEqual(result.data, [{ ...shown, amount, createdAt, parentId: null }])
    const inJson = { ...shown, amount: 1_050, created_at: createdAt.toISOString(), parent_id: null }
    assert.deepEqual(JSON.parse(JSON.stringify(result)), { data: [inJson], has_more: false })
  })

  test('a refund is found by its id and its provider’s', async () => {
    const { id: parent } = await create({ gateway: 'stripe' })
    const id = newUuid()
    await run(`insert into billing.payments (id, type, parent_id, gateway, status, amount, currency,
        payable_type, payable_id, provider_reference)
      values ('${id}', 'refund', '${parent}', 'stripe', 'paid', 100, 'USD', 'order', '1', 're_found')`)
    assert.deepEqual(await found(id), [`refund ${id} by id`])
    assert.deepEqual(await found('re_found'), [`refund ${id} by provider_reference`])
  })

  test('a callback, an event, a review and a saved card are found by their ids', async () => {
    const { id: payment } = await create()
    await sendFake(billing.core, payment, 'success')
    const [call] = (await billing.core.calls.list()).data
    assert.ok(call)
    const [event, review, card] = [newUuid(), newUuid(), newUuid()]
    await run(`insert into billing.events (id, dedup_key, type, payment_id, source)
      values ('${event}', 'found', 'PaymentSucceeded', '${payment}', 'call')`)
    await run(`insert into billing.reviews (id, key, gateway, reason)
      values ('${review}', '\\x01', 'fake', 'dispute_open')`)
    await run(`insert into billing.payment_methods (id, gateway, status, provider_reference)
      values ('${card}', 'stripe', 'attached', 'pm_found')`)
    assert.deepEqual(await found(call.id), [`call ${call.id} by id`])
    assert.deepEqual(await found(event), [`event ${event} by id`])
    assert.deepEqual(await found(review), [`review ${review} by id`])
    assert.deepEqual(await found(card), [`payment_method ${card} by id`])
    assert.deepEqual(await found('pm_found'), [`payment_method ${card} by provider_reference`])
  })

  test('a subscription and an invoice are found by id, payable, reference and number', async () => {
    const payable = { type: 'account', id: 'of both' }
    const terms = { gateway: 'fake', amount: 500, currency: 'USD', every: 'month' } as const
    const { subscription } = await billing.core.subscriptions.create({ ...terms, payable })
    const { id } = subscription
    await run(`update billing.subscriptions set provider_reference = 'sub_own' where id = '${id}'`)
    const [invoice] = (await billing.core.invoices.list({ payable })).data
    assert.ok(invoice?.number)
    assert.deepEqual(await found(id), [`subscription ${id} by id`])
    assert.deepEqual(await found('sub_own'), [`subscription ${id} by provider_reference`])
    assert.deepEqual(await found(invoice.id), [`invoice ${invoice.id} by id`])
    assert.deepEqual(await found(invoice.number), [`invoice ${invoice.id} by invoice_number`])
    const [payment] = (await billing.core.payments.list({ payable })).data
    assert.deepEqual(await found('account:of both'), [
      `payment ${payment?.id} by payable`,
      `subscription ${id} by payable`,
      `invoice ${invoice.id} by payable`,
    ])
  })

  test('an amount and a day find what was made on the day or beside it, of the currency if one is said', async () => {
    const today = await lastingToday()
    const { id: hryvnias } = await create({ amount: 12_345, currency: 'UAH' })
    const { id: euros } = await create({ amount: 12_345, currency: 'EUR' })
    const { id: dinars } = await create({ amount: 123_450, currency: 'KWD' })
    const at = (days: number) => dayAfter(today, days)
    const amount = (id: string) => `payment ${id} by amount`
    const all = [dinars, euros, hryvnias].map(amount)
    for (const text of ['123.45 today', '123,45 yesterday', `${at(1)} 123.450`]) {
      assert.deepEqual(await found(text), all, text)
    }
    assert.deepEqual(await found('123.45 uah today'), [amount(hryvnias)])
    assert.deepEqual(await found('€123.45 today'), [amount(euros)])
    for (const text of [`123.45 ${at(2)}`, `123.45 ${at(-2)}`, '123.46 today', '12345 today']) {
      assert.deepEqual(await found(text), [], text)
    }
  })

  test('what is found by several is there once, by the first; the surest stand first', async () => {
    const payable = { type: 'order', id: '4711-x' }
    const { id: first } = await create({ payable, customer: { id: '4711-x' } })
    const { id: second } = await create({ customer: { id: '4711-x' } })
    const { id: third } = await create({ gateway: 'stripe', providerReference: '4711-x' })
    assert.deepEqual(await found('4711-x'), [
      `payment ${third} by provider_reference`,
      `payment ${first} by payable_id`,
      `payment ${second} by customer_id`,
    ])
  })

  test('50 are shown at most, the newest, and it says that there may be more', async () => {
    const made: string[] = []
    for (let count = 0; count < 51; count += 1) {
      made.unshift((await create({ customer: { id: 'of many' } })).id)
    }
    const { data, hasMore } = await billing.core.inspect.find('of many')
    assert.deepEqual(
      data.map(({ id }) => id),
      made.slice(0, 50),
    )
    assert.equal(hasMore, true)
    assert.equal((await billing.core.inspect.find('4711-x')).hasMore, false)
  })

  test('no text breaks it: it is found, or nothing is, or it is refused', async () => {
    const odd = [
      "'",
      '"',
      '%',
      '_',
      "'; drop table billing.payments; --",
      '\\',
      '$1',
      '😀'.repeat(250),
    ]
    for (const text of [
      ...odd,
      newUuid(),
      '{}',
      ':',
      '/',
      ':/',
      '-0001',
      'a'.repeat(500),
      '٣٤ today',
    ]) {
      assert.deepEqual(await found(text), [], text)
    }
    const refused = ['', '  ', '\0', 'a\nb', '\ud800', 'x'.repeat(10_240), 42, null, undefined, {}]
    for (const text of refused) {
      await assert.rejects(billing.core.inspect.find(text as never), { code: 'query_invalid' })
    }
  })

  test('what is paid in many currencies at one amount is looked at as far as it is bounded', async () => {
    const { id: template } = await newPayment(billing.core, { amount: 700, currency: 'UAH' })
    await sql`
    with made as (insert into billing.payments (id, gateway, amount, currency, payable_type, payable_id)
      select gen_random_uuid(), gateway, amount, currency, payable_type, payable_id
      from billing.payments, generate_series(1, 400) where id = ${template}
      returning id, created_at)
    insert into billing.payment_keys (key, created_at, payment_id)
    select key, made.created_at, made.id from made, billing.payment_keys
    where payment_id = ${template}`.execute(billing.database.db)
    assert.deepEqual(await billing.core.inspect.find('7 USD today'), { data: [], hasMore: true })
    assert.equal((await billing.core.inspect.find('7 UAH today')).data.length, 50)
  })
})
