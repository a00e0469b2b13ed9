import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import { days, hours, minutes } from '../../../src/kernel/duration.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { runIfDue, type Schedule } from '../../../src/queue/schedule.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)
  const { signal } = new AbortController()

  const daily = (run: Schedule['run'], fields: Partial<Schedule> = {}): Schedule => ({
    name: 'sweep',
    every: days(1),
    run,
    ...fields,
  })
  const runNow = (db: Kysely<Tables>, schedule: Schedule, by: AbortSignal = signal) =>
    runIfDue(db, schedule, { newId: newUuid, signal: by, scrub: String })
  const makeDue = (db: Kysely<Tables>) =>
    sql`insert into billing.schedules (name, next_run_at)
      values ('sweep', clock_timestamp() - interval '1 s')
      on conflict (name) do update set next_run_at = excluded.next_run_at`.execute(db)
  /** How long until the next run, in seconds; the last error; whether it is held, and has run. */
  const state = async (db: Kysely<Tables>) => {
    const { rows } = await sql<{ wait: number; error: string | null; held: boolean; ran: boolean }>`
      select extract(epoch from next_run_at - clock_timestamp())::float8 as wait,
        last_error as error, lease_token is not null or lease_until is not null as held,
        last_run_at is not null as ran
      from billing.schedules where name = 'sweep'`.execute(db)
    return rows[0] ?? assert.fail('no schedule')
  }
  const isMidnight = async (db: Kysely<Tables>) => {
    const { rows } = await sql<{ midnight: boolean }>`
      select next_run_at = date_trunc('day', next_run_at at time zone 'UTC') at time zone 'UTC'
        and extract(epoch from next_run_at - clock_timestamp()) between -60 and 86400 as midnight
      from billing.schedules where name = 'sweep'`.execute(db)
    return rows[0]?.midnight
  }

  test(
    'a schedule that is new is due at its next time, and not before',
    rolledBack(async (db) => {
      assert.equal(
        await runNow(
          db,
          daily(async () => assert.fail('not due')),
        ),
        'not_due',
      )
      assert.equal(await isMidnight(db), true)
      const { error, held, ran } = await state(db)
      assert.deepEqual([error, held, ran], [null, false, false])
    }),
  )

  test(
    'what is due runs once, held by its runner meanwhile, and is due again at its next time',
    rolledBack(async (db) => {
      await makeDue(db)
      const seen: unknown[] = []
      const nested = daily(async () => assert.fail('twice'))
      const run = async (given: AbortSignal) => {
        seen.push(given === signal, (await state(db)).held, await runNow(db, nested))
      }
      assert.equal(await runNow(db, daily(run)), 'ran')
      assert.deepEqual(seen, [true, true, 'not_due'])
      assert.equal(await isMidnight(db), true)
      const { error, held, ran } = await state(db)
      assert.deepEqual([error, held, ran], [null, false, true])
      assert.equal(await runNow(db, nested), 'not_due')
    }),
  )

  test(
    'whoever held it for half an hour is taken to be gone',
    rolledBack(async (db) => {
      await makeDue(db)
      await sql`update billing.schedules set lease_token = ${newUuid()}::uuid,
        lease_until = clock_timestamp() - interval '1 s'`.execute(db)
      const run = async () => {
        const { rows } = await sql<{ held: boolean }>`
          select lease_until - clock_timestamp() between interval '29 min' and interval '30 min'
            as held from billing.schedules`.execute(db)
        assert.equal(rows[0]?.held, true)
      }
      assert.equal(await runNow(db, daily(run)), 'ran')
    }),
  )

  for (const [what, fields, wait] of [
    ['in an hour', {}, hours(1)],
    ['when it says', { retryAfter: minutes(5) }, minutes(5)],
  ] as const) {
    test(
      `a run that failed says so, and is tried again ${what}`,
      rolledBack(async (db) => {
        await makeDue(db)
        const failure = new Error(`no disk ${'.'.repeat(2_000)}`)
        const failing = daily(() => Promise.reject(failure), fields)
        await assert.rejects(runNow(db, failing), failure)
        const { error, held, ran, wait: left } = await state(db)
        assert.ok(left <= wait / 1000 && left > wait / 1000 - 10, `${left}`)
        assert.deepEqual([error?.length, held, ran], [1_000, false, false])
        assert.match(error ?? '', /no disk \.\.\./)
        await makeDue(db)
        assert.equal(
          await runNow(
            db,
            daily(async () => {}),
          ),
          'ran',
        )
        assert.equal((await state(db)).error, null)
      }),
    )
  }

  test(
    'a run that is stopped by a shutdown stays due: whoever looks next goes on with it',
    rolledBack(async (db) => {
      await makeDue(db)
      const stopping = new AbortController()
      const run = async () => {
        stopping.abort()
        throw new Error('aborted')
      }
      assert.equal(await runNow(db, daily(run), stopping.signal), 'stopped')
      const { error, held, wait } = await state(db)
      assert.deepEqual([error, held, wait < 0], ['stopped before its end', false, true])
      assert.equal(
        await runNow(
          db,
          daily(async () => {}),
        ),
        'ran',
      )
    }),
  )

  test(
    'each run knows when the last one began that came to its end, whatever failed since',
    rolledBack(async (db) => {
      const known: (Date | undefined)[] = []
      const run = (outcome: () => Promise<void>) => async (_: AbortSignal, last?: Date) => {
        known.push(last)
        await outcome()
      }
      for (const outcome of [
        async () => {},
        () => Promise.reject(new Error('no disk')),
        async () => {},
      ]) {
        await makeDue(db)
        await runNow(db, daily(run(outcome))).catch(() => {})
      }
      const [first, second, third] = known
      assert.equal(first, undefined)
      assert.ok(second instanceof Date)
      assert.deepEqual(third, second)
      const { rows } = await sql<{ later: boolean }>`
        select last_run_at > ${second} as later from billing.schedules`.execute(db)
      assert.equal(rows[0]?.later, true)
    }),
  )

  test(
    'whoever lost it meanwhile changes nothing of what the other does',
    rolledBack(async (db) => {
      await makeDue(db)
      const token = newUuid()
      const run = async () => {
        await sql`update billing.schedules set lease_token = ${token}::uuid`.execute(db)
      }
      await runNow(db, daily(run))
      const { held, ran } = await state(db)
      assert.deepEqual([held, ran], [true, false])
    }),
  )
})
