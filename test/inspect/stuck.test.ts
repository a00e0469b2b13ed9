import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { StuckKind, StuckQuery } from '../../src/index.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  const run = (statement: ReturnType<typeof sql>) => statement.execute(billing.database.db)
  beforeEach(async () => {
    await run(sql`delete from billing.disputes`)
    await run(sql`delete from billing.payments where type = 'refund'`)
    await run(sql`delete from billing.payments`)
  })
  const ids = async (stuck: StuckKind, query: Omit<StuckQuery, 'stuck'> = {}) =>
    (await billing.core.inspect.stuck({ stuck, ...query })).data.map(({ payment }) => payment.id)
  const charge = async (gateway = 'fake') =>
    (await newPayment(billing.core, { gateway, checkout: false })).id

  test('a checkout is stuck once nobody has known of it for an hour', async () => {
    const unknown = async (minutesAgo: number, status = 'pending') => {
      const id = await charge()
      await run(sql`update billing.payments set checkout = 'unknown', status = ${status},
        created_at = now() - make_interval(mins => ${minutesAgo}) where id = ${id}::uuid`)
      return id
    }
    await unknown(59)
    await unknown(300, 'paid')
    const [newer, older] = [await unknown(61), await unknown(180)]
    assert.deepEqual(await ids('checkout_unknown'), [older, newer])
  })

  test('polls that are overdue come in the order in which they were due, of all known gateways', async () => {
    const due = async (minutesAgo: number, gateway: string, status = 'pending') => {
      const id = await charge(gateway)
      await run(sql`update billing.payments set status = ${status},
        next_poll_at = now() - make_interval(mins => ${minutesAgo}) where id = ${id}::uuid`)
      return id
    }
    await due(14, 'fake')
    await due(60, 'fake', 'paid')
    const first = await due(50, 'stripe')
    const second = await due(40, 'fake')
    const third = await due(30, 'stripe')
    const lost = await due(90, 'fake')
    await run(sql`update billing.payments set gateway = 'gone' where id = ${lost}::uuid`)
    assert.deepEqual(await ids('poll_overdue'), [first, second, third])
    const page = await billing.core.inspect.stuck({ stuck: 'poll_overdue', limit: 2 })
    assert.deepEqual(
      page.data.map(({ payment }) => payment.id),
      [first, second],
    )
    const cursor = page.nextCursor ?? ''
    assert.deepEqual(await ids('poll_overdue', { limit: 2, cursor }), [third])
  })

  test('a refund is stuck after a day; pages of those made at the same time miss none', async () => {
    const parent = await charge()
    const madeAt = new Date(Date.now() - 3 * 86_400_000)
    const refund = async (status = 'pending') => {
      const id = newUuid()
      await run(sql`insert into billing.payments (id, type, parent_id, gateway, status, amount, currency,
          payable_type, payable_id, created_at)
        values (${id}::uuid, 'refund', ${parent}::uuid, 'fake', ${status}, 1, 'USD', 'order', '1',
          ${madeAt})`)
      return id
    }
    await refund('paid')
    const all = [await refund(), await refund(), await refund()].toSorted()
    await run(sql`update billing.payments set created_at = now() - interval '23 h'
      where id = ${await refund()}::uuid`)
    const found: string[] = []
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await billing.core.inspect.stuck({
        stuck: 'refund_pending',
        limit: 1,
        ...(cursor && { cursor }),
      })
      found.push(...page.data.map(({ payment }) => payment.id))
      cursor = page.nextCursor
    }
    assert.deepEqual(found, all)
  })

  test('an open dispute is shown with its payment; a payment may have several', async () => {
    const id = await charge()
    const dispute = (reference: string, status: string) =>
      run(sql`insert into billing.disputes (id, payment_id, gateway, provider_reference, status, amount,
          currency)
        values (${newUuid()}::uuid, ${id}::uuid, 'fake', ${reference}, ${status}, 100, 'USD')`)
    await dispute('dp_1', 'open')
    await dispute('dp_2', 'won')
    await dispute('dp_3', 'open')
    const { data } = await billing.core.inspect.stuck({ stuck: 'dispute_open' })
    assert.deepEqual(
      data.map((one) => [one.payment.id, one.dispute?.providerReference]),
      [
        [id, 'dp_1'],
        [id, 'dp_3'],
      ],
    )
  })

  test('what is no way of being stuck is refused', async () => {
    const { inspect } = billing.core
    await assert.rejects(inspect.stuck({ stuck: 'lost' as StuckKind }), { code: 'query_invalid' })
    const cursor = 'x'
    await assert.rejects(inspect.stuck({ stuck: 'poll_overdue', cursor }), {
      code: 'cursor_invalid',
    })
  })
})
