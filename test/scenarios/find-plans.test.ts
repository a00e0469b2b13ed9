import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kysely, PostgresDialect, sql, type KyselyConfig } from 'kysely'
import { amountKey, customerKey } from '../../src/database/payment-keys.ts'
import type { Tables } from '../../src/database/tables.ts'
import { find } from '../../src/inspect/find.ts'
import { scanCalls } from '../../src/inspect/scan-calls.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { idMadeAt } from '../support/id-made-at.ts'

const many = 10_000
const time = `now() - interval '20 days' * (${many} - number) / ${many}`
const id = sql.raw(idMadeAt(time))

interface Asked {
  readonly text: string
  readonly parameters: readonly unknown[]
}

onPostgres((engine) => {
  let billing: TestBilling
  /** The same database; what it is asked is kept. */
  let db: Kysely<Tables>
  const asked: Asked[] = []
  before(async () => {
    billing = await openBilling(engine)
    // Without the limits of a service: many rows take a while on a busy machine.
    const { types } = billing.database.pool.options
    const pool = directPool({ connectionString: billing.url, types })
    const config: KyselyConfig = {
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => {
        asked.push({ text: query.sql, parameters: query.parameters })
      },
    }
    db = new Kysely(config)
    await fill(billing, db)
  })
  after(async () => {
    await db.destroy()
    await billing.close()
  })

  /** The steps of the plan of each statement that `work` sends. */
  const plansOf = async (work: () => Promise<unknown>) => {
    asked.splice(0)
    await work()
    const plans: string[] = []
    for (const { text, parameters } of asked.splice(0)) {
      const { rows } = await billing.database.pool.query<{ 'QUERY PLAN': string }>(
        `explain ${text}`,
        [...parameters],
      )
      plans.push([text, ...rows.map((row) => row['QUERY PLAN'])].join('\n'))
    }
    assert.ok(plans.length > 0)
    return plans
  }
  const context = {
    gateways: ['fake', 'stripe', 'paddle', 'liqpay'],
    searchedMetadata: ['invoice_no'],
    now: new Date(),
  }

  for (const text of [
    'an id',
    'pi_500',
    'cs_500',
    'INV-0500',
    'order:42',
    'walk-in',
    '+380 67 123 45 67',
    '7 USD today',
    '7 EUR today',
    '7 today',
  ]) {
    test(`a look for ${text} reads no table from its beginning to its end`, async () => {
      const { rows } = await sql<{ id: string }>`
        select id from billing.webhook_calls order by id limit 1`.execute(billing.database.db)
      const sought = text === 'an id' ? (rows[0]?.id ?? '') : text
      const plans = await plansOf(() => find(db, sought, context))
      for (const plan of plans) assert.doesNotMatch(plan, /Seq Scan/, plan)
    })
  }

  test('what is quoted there is found', async () => {
    const counts = async (text: string) => (await find(db, text, context)).data.length
    assert.deepEqual(await Promise.all(['pi_500', 'cs_500', 'sub_500'].map(counts)), [2, 1, 1])
    assert.deepEqual(
      await Promise.all(['walk-in', '7 USD today', 'INV-0500'].map(counts)),
      [50, 50, 1],
    )
  })

  test('nor does a look inside callbacks, which sorts none', async () => {
    const query = { text: 'needle', from: new Date(Date.now() - 30 * 86_400_000), limit: 1 }
    const plans = await plansOf(() => scanCalls(db, query, { now: new Date(), ticks: () => 0 }))
    const looks = plans.filter((plan) => plan.includes('strpos'))
    for (const plan of plans) assert.doesNotMatch(plan, /Seq Scan/, plan)
    for (const plan of looks) assert.match(plan, /Index Scan Backward using webhook_calls_pkey/)
    assert.ok(looks.length > 0 && looks.length <= 25, `${looks.length} statements`)
  })
})

/** Every table that is looked at has many rows: of a small one, a plan says nothing. */
async function fill(billing: TestBilling, recording: Kysely<Tables>): Promise<void> {
  const template = await newPayment(billing.core)
  await recording.transaction().execute(async (db) => {
    await sql`set local session_replication_role = replica`.execute(db)
    await sql`create temp table work on commit drop as
      select number, ${sql.raw(time)} as at, ${id} as id, gen_random_uuid() as payment
      from generate_series(1, ${many}::int) as number`.execute(db)
    await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
        payable_id, created_at, updated_at, provider_reference, checkout_reference)
      select payment, 'stripe', 'paid', amount, currency, payable_type, payable_id, at, at,
        'pi_' || number, 'cs_' || number
      from work, billing.payments where billing.payments.id = ${template.id}`.execute(db)
    const keys = [customerKey('walk-in'), amountKey('7', new Date().toISOString().slice(0, 10))]
    for (const key of keys) {
      await sql`insert into billing.payment_keys select ${key}, at, payment from work`.execute(db)
    }
    await sql`insert into billing.events (id, dedup_key, type, payment_id, source, created_at)
      select id, 'payment:paid:' || payment, 'PaymentSucceeded', payment, 'call', at from work`.execute(
      db,
    )
    await sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload, state,
        received_at, processed_at)
      select id, 'fake', 'default', '/', '{}', 'json', json_build_object('no', number), 'processed', at, at
      from work`.execute(db)
    await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
      select id, 'stripe', 'attached', 'pm_' || number from work`.execute(db)
    await sql`insert into billing.reviews (id, key, gateway, reason)
      select id, decode(md5(number::text), 'hex'), 'fake', 'dispute_open' from work`.execute(db)
    await sql`insert into billing.subscriptions (id, managed_by, gateway, provider_reference, status,
        payable_type, payable_id, amount, currency, every_unit, every_count, time_zone, anchor_number,
        grace_access, created_at, updated_at)
      select id, 'provider', 'stripe', 'sub_' || number, 'active', 'account', number::text, 1, 'USD',
        'month', 1, 'UTC', 0, true, at, at
      from work`.execute(db)
    await sql`insert into billing.invoices (id, issuer, status, series, number, seller, payable_type,
        payable_id, gateway, currency, total, lines, time_zone, issued_at)
      select id, 'us', 'issued', 'INV', number, '{}', 'account', number::text, 'stripe', 'USD', 1, '[]',
        'UTC', at
      from work`.execute(db)
    await sql`insert into billing.invoices (id, issuer, status, provider_reference, payable_type,
        payable_id, gateway, currency, total, lines, time_zone, issued_at)
      select payment, 'provider', 'issued', 'pi_' || number, 'account', number::text, 'stripe', 'USD', 1,
        '[]', 'UTC', at
      from work`.execute(db)
  })
  await sql`analyze`.execute(recording)
}
