import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kysely, PostgresDialect, sql, type KyselyConfig } from 'kysely'
import { readDayTotals } from '../../src/database/day-totals.ts'
import { countDisputes, firstDay, sumMoves } from '../../src/database/sum-day.ts'
import type { Tables } from '../../src/database/tables.ts'
import { dayAfter, startOfDay, type Day } from '../../src/kernel/day.ts'
import { newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { idMadeAt } from '../support/id-made-at.ts'
import { lastingToday } from '../support/lasting-today.ts'

const many = 10_000
const mostLookedAt = 400
const time = `now() - interval '20 days' * (${many} - number) / ${many}`
let today: Day

interface Asked {
  readonly text: string
  readonly parameters: readonly unknown[]
}

interface PlanStep {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanStep[]
}

/** The totals of a day read that day's changes and no others, however many there are. */
onPostgres((engine) => {
  let billing: TestBilling
  /** The same database; what it is asked is kept. */
  let db: Kysely<Tables>
  const asked: Asked[] = []
  before(async () => {
    today = await lastingToday()
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

  /** Every step of the plan of the one statement that `work` sends, as it ran. */
  const stepsOf = async (work: () => Promise<unknown>): Promise<readonly PlanStep[]> => {
    asked.splice(0)
    await work()
    const [only, ...others] = asked.splice(0)
    assert.ok(only)
    assert.deepEqual(others, [])
    const { rows } = await billing.database.pool.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, format json) ${only.text}`,
      [...only.parameters],
    )
    const [{ Plan }] = JSON.parse(rows[0]?.['QUERY PLAN'] ?? '[]') as [{ Plan: PlanStep }]
    return withParts(Plan)
  }
  const assertNarrow = (steps: readonly PlanStep[]) => {
    const text = steps.map((step) => `${step['Node Type']} ${step['Index Name']}`).join('\n')
    for (const step of steps) {
      assert.doesNotMatch(step['Node Type'], /Seq Scan/, text)
      assert.ok(step['Actual Rows'] * step['Actual Loops'] <= mostLookedAt, text)
    }
  }
  const spanOf = (day: string) => ({ from: startOfDay(day), until: startOfDay(dayAfter(day)) })

  test('changes are read by a range of the primary key, so many at a time, each with its payment', async () => {
    const day = dayAfter(today, -10)
    let after: string | undefined
    let [looks, count] = [0, 0]
    do {
      const from = after
      const options = { after: from, most: mostLookedAt }
      const steps = await stepsOf(() => sumMoves(db, spanOf(day), options))
      assertNarrow(steps)
      const names = steps.flatMap((step) => step['Index Name'] ?? [])
      assert.deepEqual(names.toSorted(), ['payment_transitions_pkey', 'payments_pkey'])
      const { sums, last } = await sumMoves(db, spanOf(day), options)
      for (const sum of sums) count += sum.count
      looks += 1
      after = last
    } while (after !== undefined)
    assert.equal(looks, 2)
    assert.ok(Math.abs(count - many / 20) <= 1, `${count} were counted`)
  })

  test('disputes are read by their ids, and by when they ended', async () => {
    const steps = await stepsOf(() => countDisputes(db, spanOf(dayAfter(today, -10))))
    assertNarrow(steps)
    const names = steps.flatMap((step) => step['Index Name'] ?? [])
    assert.ok(names.includes('disputes_updated') && names.includes('disputes_pkey'), names.join())
  })

  test('the first day is found, and totals are read, without reading any others', async () => {
    assertNarrow(await stepsOf(() => firstDay(db, new Date())))
    const span = { from: '2020-01-01', to: '2020-01-31', most: 20_001 }
    const steps = await stepsOf(() => readDayTotals(db, span))
    assertNarrow(steps)
    assert.equal((await readDayTotals(db, span)).length, 155)
  })
})

function withParts(step: PlanStep): readonly PlanStep[] {
  return [step, ...(step.Plans ?? []).flatMap(withParts)]
}

async function fill(billing: TestBilling, recording: Kysely<Tables>): Promise<void> {
  const template = await newPayment(billing.core)
  await recording.transaction().execute(async (db) => {
    await sql`set local session_replication_role = replica`.execute(db)
    await sql`create temp table work on commit drop as
      select number, ${sql.raw(time)} as at, ${sql.raw(idMadeAt(time))} as id,
        gen_random_uuid() as payment
      from generate_series(1, ${many}::int) as number`.execute(db)
    await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type,
        payable_id, created_at, updated_at)
      select payment, 'stripe', 'paid', amount, currency, payable_type, payable_id, at, at
      from work, billing.payments where billing.payments.id = ${template.id}`.execute(db)
    await sql`insert into billing.payment_transitions (id, payment_id, from_status, to_status, cause, at)
      select id, payment, 'pending', 'paid', 'call', at from work`.execute(db)
    await sql`insert into billing.disputes (id, payment_id, gateway, provider_reference, status,
        created_at, updated_at)
      select id, payment, 'stripe', 'dp', case when number % 40 = 0 then 'won' else 'open' end, at, at
      from work where number % 20 = 0`.execute(db)
    await sql`insert into billing.totaled_days
      select date '2000-01-01' + number, now() from generate_series(1, 9000) as number`.execute(db)
    await sql`insert into billing.day_totals
      select day, 'gateway ' || number, '', 'live', 'USD', 1, 1, 1, 1, 1, 1, 1, 1, 1
      from billing.totaled_days, generate_series(1, 5) as number`.execute(db)
  })
  await sql`analyze`.execute(recording)
}
