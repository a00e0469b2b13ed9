import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { CreatePaymentInput } from '../../src/checkout/payment-input.ts'
import type { PaymentsQuery } from '../../src/database/list-payments.ts'
import { insertRenewal } from '../../src/database/payments.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { addPaymentKeys } from '../../src/upkeep/add-payment-keys.ts'
import { newPayment, openBilling, until, type TestBilling } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'

forEachDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  const create = (input: Partial<CreatePaymentInput>) => newPayment(billing.core, input)
  const found = async (query: PaymentsQuery) =>
    (await billing.core.payments.list(query)).data.map(({ id }) => id)
  const addKeys = () => addPaymentKeys(billing.database, new AbortController().signal)
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
    const renewal = { id, amount: 1n, currency: 'USD', providerReference: 'in_1', isPolled: false }
    await insertRenewal(billing.database.db, first, renewal)
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
