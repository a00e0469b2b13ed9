import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { newPayment, openBilling, sendFake, idle, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, onPostgres, postgres } from '../support/databases.ts'
import { dumpTables, restoreTables } from '../support/dump.ts'

async function pay({ core }: TestBilling, count: number): Promise<void> {
  for (let paid = 0; paid < count; paid += 1) {
    const { id } = await newPayment(core)
    await sendFake(core, id, 'success')
  }
  await idle(core)
}

/** Everything behind a cursor, as soon as there are so many. */
async function readAll({ core }: TestBilling, after: string, count: number) {
  const data = []
  for await (const event of core.events.read({ after })) {
    data.push({ id: event.id, position: event.position })
    if (data.length === count) break
  }
  return data
}

onAnyDatabase((engine) => {
  test('a listener cannot commit its event before the others have heard of it: once, told to all (6)', async () => {
    await using billing = await openBilling(engine, { listenerBudgetMs: 20_000 })
    const { core, database } = billing
    let attempts = 0
    const told: string[] = []
    core.on('PaymentSucceeded', 'a-hasty', async (_event, { tx }) => {
      attempts += 1
      // The guard looks for what hides a commit in a statement; the row that it finds is ours.
      if (attempts === 1) await tx.query('do $$ begin commit; end $$')
    })
    core.on('PaymentSucceeded', 'b-patient', (event) => {
      told.push(event.id)
    })
    await core.work()
    const { id } = await newPayment(core)
    await sendFake(core, id, 'success')
    // Whatever it has tried: nothing is numbered until all have heard.
    const [event] = await readAll(billing, 'start', 1)
    assert.equal(event?.position, 1)
    assert.deepEqual(told, [event?.id])
    assert.ok(attempts > 1, 'the first attempt has failed')
    const { rows } = await sql`select from billing.events`.execute(database.db)
    assert.equal(rows.length, 1)
  })
})

onPostgres(() => {
  test('a cursor from before a restore is refused where its event is gone, and since goes on (7)', async () => {
    await using billing = await openBilling(postgres)
    const { core, database } = billing
    await core.work()
    await pay(billing, 3)
    const kept = await readAll(billing, 'start', 3)
    await dumpTables(database)
    const from = new Date()
    await pay(billing, 2)
    const [, lost] = await readAll(billing, kept.at(-1)?.id ?? '', 2)
    await restoreTables(database)
    // The positions are given again, to other events.
    await pay(billing, 4)
    const again = await readAll(billing, kept.at(-1)?.id ?? '', 4)
    assert.deepEqual(
      again.map(({ position }) => position),
      [4, 5, 6, 7],
    )
    assert.ok(!again.some(({ id }) => id === lost?.id))
    await assert.rejects(
      core.events.feed({ after: lost?.id }),
      (error) => isQuittanceError(error) && error.code === 'cursor_unknown',
    )
    const since = await core.events.feed({ since: from })
    assert.deepEqual(
      since.data.map(({ id }) => id),
      again.map(({ id }) => id),
    )
  })

  test('a reader that goes on meanwhile learns of a restore, too (7)', async () => {
    await using billing = await openBilling(postgres)
    const { core, database } = billing
    await core.work()
    await pay(billing, 1)
    await readAll(billing, 'start', 1)
    await dumpTables(database)
    const reading = core.events.pages({ wait: 100 })[Symbol.asyncIterator]()
    await pay(billing, 2)
    const seen = new Set<string>()
    while (seen.size < 3) {
      for (const { id } of (await reading.next()).value?.data ?? []) seen.add(id)
    }
    await restoreTables(database)
    await pay(billing, 1)
    await assert.rejects(
      async () => {
        for (;;) await reading.next()
      },
      (error) => isQuittanceError(error) && error.code === 'cursor_unknown',
    )
  })

  test('dumped into a fresh server, the feed goes on where it was (7)', async () => {
    await using old = await openBilling(postgres)
    await old.core.work()
    await pay(old, 3)
    const [first, ...rest] = await readAll(old, 'start', 3)
    await using fresh = await openBilling(postgres)
    for (const table of ['payments', 'events', 'feeds']) {
      const { rows } = await sql<{ row: string }>`
        select to_jsonb(t)::text as row from ${sql.id('billing', table)} as t`.execute(
        old.database.db,
      )
      await sql`delete from ${sql.id('billing', table)}`.execute(fresh.database.db)
      for (const { row } of rows) {
        await sql`insert into ${sql.id('billing', table)}
          select * from jsonb_populate_record(null::${sql.id('billing', table)}, ${row}::jsonb)`.execute(
          fresh.database.db,
        )
      }
    }
    await fresh.core.work()
    await pay(fresh, 1)
    const gone = await readAll(fresh, first?.id ?? '', 3)
    assert.deepEqual(gone.slice(0, 2), rest)
    assert.equal(gone.at(-1)?.position, 4)
  })
})
