import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import type { PaymentsQuery } from '../../src/database/list-payments.ts'
import {
  addPaymentKeys,
  amountKey,
  keysSought,
  metadataKey,
} from '../../src/database/payment-keys.ts'
import { insertRenewal } from '../../src/database/payments.ts'
import { renewalRow } from '../../src/outcomes/further-row.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

const searched = ['invoice_no']

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine, { search: { metadata: searched } })
  })
  after(() => billing.close())

  const create = (input: Partial<CreatePaymentInput>) => newPayment(billing.core, input)
  const found = async (query: PaymentsQuery) =>
    (await billing.core.payments.list(query)).data.map(({ id }) => id)
  const addKeys = () => addPaymentKeys(billing.database, searched, new AbortController().signal)
  const sqlOn = (text: string) => sql.raw(text).execute(billing.database.db)

  test('payments are found by what they pay for, by their customer, or by both', async () => {
    const order = { type: 'order', id: 'a:1' }
    const email = 'Payer@Example.test'
    const first = await create({ payable: order, customer: { id: 7, email } })
    const second = await create({ payable: order, customer: { email: 'other@example.test' } })
    const other = await create({ payable: { type: 'order:a', id: '1' }, customer: { id: 7 } })
    assert.deepEqual(await found({ payable: order }), [second.id, first.id])
    assert.deepEqual(await found({ customer: '7' }), [other.id, first.id])
    assert.deepEqual(await found({ customer: ' payer@example.TEST ' }), [first.id])
    assert.deepEqual(await found({ payable: order, customer: '7' }), [first.id])
    assert.deepEqual(await found({ payable: order, customer: '8' }), [])
    assert.deepEqual(await found({ payable: { type: 'order', id: 'a' } }), [])
    await billing.core.payments.cancel(second.id)
    assert.deepEqual(await found({ payable: order, status: 'canceled' }), [second.id])
    assert.deepEqual(await found({ payable: order, gateway: 'stripe' }), [])
  })

  test('pages go from the newest to the oldest, each payment once', async () => {
    const created: string[] = []
    for (let count = 0; count < 5; count += 1) {
      created.unshift((await create({ customer: { id: 'of many' } })).id)
    }
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const query: PaymentsQuery = { customer: 'of many', limit: 2, ...(cursor && { cursor }) }
      const page = await billing.core.payments.list(query)
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor
    }
    assert.deepEqual(seen, created)
  })

  test('a renewal is found with the payment that it renews; a refund is no entry of a list', async () => {
    const payable = { type: 'subscription', id: '9' }
    const first = await create({ payable, customer: { id: 'subscriber' } })
    const id = newUuid()
    const renewal = { id, amount: 1n, providerReference: 'in_1' }
    await insertRenewal(billing.database.db, renewalRow(first, false, renewal))
    assert.deepEqual(await found({ payable, customer: 'subscriber' }), [id, first.id])
  })

  test('what an older process wrote without keys is found once upkeep has come to it', async () => {
    const payable = { type: 'order', id: 'of old' }
    const { id: old } = await create({ payable, customer: { email: 'old@example.test' } })
    const { id: young } = await create({ payable })
    await sqlOn(`delete from billing.payment_keys where payment_id in ('${old}', '${young}')`)
    await sqlOn(`update billing.payments set created_at = created_at - interval '5 min'
      where id = '${old}'`)
    assert.deepEqual(await found({ payable }), [])
    await addKeys()
    assert.deepEqual(await found({ payable }), [old], 'others may yet commit beside the young one')
    assert.deepEqual(await found({ customer: 'old@example.test' }), [old])
    await sqlOn(`update billing.payments set created_at = created_at - interval '4 min'
      where id = '${young}'`)
    await addKeys()
    assert.deepEqual(await found({ payable }), [young, old])
    await sqlOn(`delete from billing.payment_keys where payment_id = '${old}'`)
    await addKeys()
    assert.deepEqual(await found({ payable }), [young], 'it does not begin anew')
  })

  const keysOf = async (id: string) => {
    const { rows } = await sql<{ key: string }>`select encode(key, 'hex') as key
      from billing.payment_keys where payment_id = ${id} order by key`.execute(billing.database.db)
    return rows.map(({ key }) => key)
  }
  const hexOf = (key: Buffer) => key.toString('hex')
  const dayOf = ([row]: readonly unknown[]) =>
    (row as { readonly created_at: Date }).created_at.toISOString().slice(0, 10)
  const makeOlder = (id: string, time: string) =>
    sqlOn(`update billing.payments set created_at = ${time} where id = '${id}'`)

  test('upkeep gives a payment of before the very keys that it is written with now', async () => {
    const { id } = await create({
      payable: { type: 'order', id: 'of before' },
      customer: { id: 'u-1', email: 'before@example.test', phone: '+38 (067) 123-45-67' },
      metadata: { invoice_no: 1207, note: 'not searched', nested: { invoice_no: 'x' } },
      amount: 1_999_50,
      currency: 'UAH',
    })
    const written = await keysOf(id)
    assert.equal(written.length, 7)
    const { rows } = await sqlOn(`select created_at from billing.payments where id = '${id}'`)
    const shared = written.filter((key) => key !== hexOf(amountKey('1999.5', dayOf(rows))))
    assert.equal(shared.length, 6)
    await makeOlder(id, "'2026-01-05T23:59:59.999Z'")
    await sqlOn(`delete from billing.payment_keys where payment_id = '${id}'`)
    // The walk has passed this time in the tests before.
    await sqlOn('delete from billing.walks')
    await addKeys()
    const amount = hexOf(amountKey('1999.5', '2026-01-05'))
    assert.deepEqual(await keysOf(id), [...shared, amount].toSorted())
  })

  test('what a version of before wrote with fewer keys gets the rest, whatever its own walk did', async () => {
    const { id } = await create({ payable: { type: 'order', id: 'of fewer keys' } })
    const written = await keysOf(id)
    assert.equal(written.length, 3)
    await makeOlder(id, "created_at - interval '3 min'")
    // They are of its time.
    await sqlOn(`update billing.payment_keys set created_at =
      (select created_at from billing.payments where id = payment_id) where payment_id = '${id}'`)
    const [kept] = keysSought({ payable: { type: 'order', id: 'of fewer keys' } })
    await sqlOn(`delete from billing.payment_keys where payment_id = '${id}'
      and key <> decode('${kept && hexOf(kept)}', 'hex')`)
    await sqlOn(`insert into billing.walks values ('payment keys', now(), '${id}')`)
    assert.equal((await keysOf(id)).length, 1)
    await addKeys()
    assert.equal((await keysOf(id)).length, 3)
  })

  test('after a change of the setting, upkeep comes to all payments again', async () => {
    const { id } = await create({ metadata: { voucher: 'V-7' } })
    await makeOlder(id, "created_at - interval '1 day'")
    await addKeys()
    const before = await keysOf(id)
    const { signal } = new AbortController()
    await addPaymentKeys(billing.database, ['voucher', 'invoice_no'], signal)
    const after = await keysOf(id)
    assert.ok(after.includes(hexOf(metadataKey('voucher', 'V-7'))))
    assert.ok(!before.includes(hexOf(metadataKey('voucher', 'V-7'))))
    await addPaymentKeys(billing.database, ['invoice_no', 'voucher'], signal)
    const { rows } = await sqlOn(`select from billing.walks where name like 'payment keys 2 %'`)
    assert.equal(rows.length, 2, 'the order of the names makes no other walk')
  })

  test('a renewal has the keys of its own amount, and none of the metadata of the first payment', async () => {
    const first = await create({ metadata: { invoice_no: 'of the first' }, amount: 500 })
    const id = newUuid()
    const renewal = { id, amount: 700n, providerReference: 'in_7' }
    await insertRenewal(billing.database.db, renewalRow(first, false, renewal))
    const keys = await keysOf(id)
    const { rows } = await sqlOn(`select created_at from billing.payments where id = '${id}'`)
    const today = dayOf(rows)
    assert.ok(keys.includes(hexOf(amountKey('7', today))))
    assert.ok(!keys.includes(hexOf(amountKey('5', today))))
    assert.ok(!keys.includes(hexOf(metadataKey('invoice_no', 'of the first'))))
  })

  test('a payment of a subscription is found by the metadata of its subscription', async () => {
    const { payment } = await billing.core.subscriptions.create({
      gateway: 'fake',
      amount: 500,
      currency: 'USD',
      every: 'month',
      payable: { type: 'account', id: '1' },
      metadata: { invoice_no: 'SUB-1' },
    })
    const { rows } = await sql<{ payment_id: string }>`select payment_id from billing.payment_keys
      where key = ${metadataKey('invoice_no', 'SUB-1')}`.execute(billing.database.db)
    assert.deepEqual(rows, [{ payment_id: payment?.id }])
  })

  test('a worker does that every minute', async () => {
    const worker = await billing.core.work()
    const isScheduled = async () => {
      const { rows } = await sql`
        select from billing.schedules where name = 'payment keys'`.execute(billing.database.db)
      return rows.length === 1
    }
    await until(isScheduled, { what: 'the schedule is there' })
    await worker.stop()
  })

  test('what cannot be looked for is refused, and not answered with nothing', async () => {
    for (const query of [
      { payable: 'order:42' },
      { payable: { type: 'order' } },
      { customer: {} },
    ]) {
      await assert.rejects(billing.core.payments.list(query as never), { code: 'query_invalid' })
    }
  })
})
