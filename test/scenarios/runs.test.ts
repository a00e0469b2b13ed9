import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql, type Insertable, type Kysely } from 'kysely'
import type { StartRunInput } from '../../src/billing/run-input.ts'
import type { Database } from '../../src/database/connect.ts'
import { releaseRun, takeRun } from '../../src/upkeep/leased-runs.ts'
import type { Tables } from '../../src/database/tables.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { countEnded, continueRuns, runBatch } from '../../src/upkeep/continue-runs.ts'
import { newPayment, openBilling, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { insertSubscription } from '../support/subscription-rows.ts'

type Call = Partial<Insertable<Tables['billing.webhook_calls']>>
type Failed = Partial<Insertable<Tables['billing.deferred_events']>>

const anHourAgo = sql<Date>`statement_timestamp() - interval '1 hour'`

/** A call that failed an hour ago. Returns its id. */
async function failCall({ db }: Database, call: Call = {}): Promise<string> {
  const id = newUuid()
  const row = { gateway: 'fake', queue: 'default', url: '/', headers: '{}', kind: 'json' } as const
  await db
    .insertInto('billing.webhook_calls')
    .values({
      ...row,
      payload: '{}',
      state: 'failed',
      attempts: 3,
      processed_at: anHourAgo,
      ...call,
      id,
    })
    .execute()
  return id
}

/** So many, in one statement. */
async function failCalls({ db }: Database, count: number, gateway = 'fake'): Promise<void> {
  await sql`
    insert into billing.webhook_calls
      (id, gateway, queue, url, headers, kind, payload, state, attempts, processed_at)
    select gen_random_uuid(), ${gateway}, 'default', '/', '{}', 'json', '{}', 'failed', 3, ${anHourAgo}
    from generate_series(1, ${count}::int)`.execute(db)
}

const failed = { queue: 'default', state: 'failed', processed_at: anHourAgo } as const

/** A deferred event that failed an hour ago. Returns its id. */
async function failEvent({ db }: Database, event: Failed = {}): Promise<string> {
  const id = newUuid()
  const about = { dedup_key: id, type: 'SubscriptionResumed', cause: 'poll' } as const
  await db
    .insertInto('billing.deferred_events')
    .values({ ...about, ...failed, ...event, id })
    .execute()
  return id
}

/** A delivery to this listener that failed an hour ago. Returns its id. */
async function failDelivery({ db }: Database, listener: string): Promise<string> {
  const [id, event_id] = [newUuid(), await insertEvent(db)]
  await db
    .insertInto('billing.deliveries')
    .values({ ...failed, id, event_id, listener })
    .execute()
  return id
}

async function insertEvent(db: Kysely<Tables>): Promise<string> {
  const id = newUuid()
  const event = { dedup_key: id, type: 'SubscriptionResumed', source: 'poll', data: '{}' } as const
  await db
    .insertInto('billing.events')
    .values({ id, ...event })
    .execute()
  return id
}

async function attempted(
  { db }: Database,
  of: { readonly call_id: string } | { readonly delivery_id: string },
  attempt: { readonly listener: string; readonly exception: string },
): Promise<void> {
  await db
    .insertInto('billing.failed_attempts')
    .values({ id: newUuid(), call_id: null, delivery_id: null, ...of, attempt: 3, ...attempt })
    .execute()
}

/** What waits in the queue. */
async function queued({ db }: Database): Promise<ReadonlySet<string>> {
  const calls = await db
    .selectFrom('billing.webhook_calls')
    .select('id')
    .where('state', '=', 'pending')
    .execute()
  const deliveries = await db
    .selectFrom('billing.deliveries')
    .select('id')
    .where('state', '=', 'pending')
    .execute()
  const events = await db
    .selectFrom('billing.deferred_events')
    .select('id')
    .where('state', '=', 'pending')
    .execute()
  return new Set([...calls, ...deliveries, ...events].map(({ id }) => id))
}

function goOn(database: Database): Promise<void> {
  const { signal } = new AbortController()
  return continueRuns(database, {
    log: silentLog,
    newId: newUuid,
    signal,
    announce: async () => {},
  })
}

async function started({ core }: TestBilling, filter: Omit<StartRunInput, 'id'> = {}) {
  return core.runs.start({ id: newUuid(), operator: 'ops-1', ...filter })
}

/** Every time that a call comes back into the queue. */
async function watchReplays({ db }: Database): Promise<() => Promise<readonly string[]>> {
  await sql`create table if not exists replays (id uuid not null)`.execute(db)
  await sql`truncate replays`.execute(db)
  await sql`create or replace function note_replay() returns trigger language plpgsql as $$
    begin insert into replays values (new.id); return null; end $$`.execute(db)
  await sql`create or replace trigger note_replay after update on billing.webhook_calls
    for each row when (old.state = 'failed' and new.state = 'pending')
    execute function note_replay()`.execute(db)
  return async () =>
    (await sql<{ id: string }>`select id from replays`.execute(db)).rows.map(({ id }) => id)
}

onAnyDatabase((engine) => {
  describe('billing.runs', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    beforeEach(() =>
      sql`truncate billing.runs, billing.run_items, billing.webhook_calls, billing.deliveries,
        billing.deferred_events, billing.failed_attempts, billing.events, billing.payments, billing.subscriptions
        cascade`.execute(billing.database.db),
    )
    after(() => billing.close())

    test('a run replays every call, delivery and deferred event that failed, and says how many', async () => {
      const { core, database } = billing
      await failCalls(database, 250)
      await failEvent(database)
      await failDelivery(database, 'mail')
      const run = await started(billing)
      assert.deepEqual(
        [run.state, run.operator, run.estimate, run.estimateIsLeast, run.done],
        ['running', 'ops-1', 252, false, 0],
      )
      await goOn(database)
      const { state, done, failedAgain, waiting, finishedAt } = (await core.runs.get(run.id)) ?? run
      assert.deepEqual([state, done, failedAgain, waiting], ['finished', 252, 0, 252])
      assert.ok(finishedAt)
      assert.equal((await queued(database)).size, 252)
    })

    test('each part of the filter leaves out what does not match', async () => {
      const { database } = billing
      const old = new Date('2026-01-01T00:00:00Z')
      const deadlock = 'Error: deadlock\tdetected\n    at grantAccess'
      const all = {
        plain: await failCall(database),
        stripe: await failCall(database, { gateway: 'stripe' }),
        old: await failCall(database, { received_at: old }),
        deadlock: await failCall(database, { exception: deadlock }),
        event: await failEvent(database, { exception: deadlock }),
        oldEvent: await failEvent(database, { created_at: old }),
        mail: await failDelivery(database, 'mail'),
      }
      const by = { listener: 'grant', exception: deadlock }
      await attempted(database, { call_id: all.deadlock }, by)
      await attempted(database, { delivery_id: all.event }, by)
      // The last word on it was another one's.
      await attempted(
        database,
        { call_id: all.plain },
        { listener: 'grant', exception: 'Error: x' },
      )
      const later = new Date(old.getTime() + 1)
      const filters: readonly (readonly [Omit<StartRunInput, 'id'>, readonly string[]])[] = [
        [{ gateway: 'stripe' }, [all.stripe]],
        [{ kind: 'call' }, [all.plain, all.stripe, all.old, all.deadlock]],
        [{ kind: 'delivery' }, [all.mail]],
        [{ kind: 'deferred_event' }, [all.event, all.oldEvent]],
        [{ listener: 'mail' }, [all.mail]],
        [{ listener: 'grant' }, [all.deadlock, all.event]],
        [{ exception: 'Error: deadlock detected' }, [all.deadlock, all.event]],
        [{ exception: 'Error: deadlock' }, []],
        [{ until: later }, [all.old, all.oldEvent]],
        [{ since: old, until: later, kind: 'call' }, [all.old]],
        [{ since: later, kind: 'deferred_event' }, [all.event]],
        [{ since: later, kind: 'call', gateway: 'fake' }, [all.plain, all.deadlock]],
        [{ kind: 'call', listener: 'grant', gateway: 'stripe' }, []],
      ]
      for (const [filter, expected] of filters) {
        const run = await started(billing, filter)
        await goOn(database)
        const { done } = (await billing.core.runs.get(run.id)) ?? run
        const found = [...(await queued(database))].toSorted()
        const said = JSON.stringify(filter)
        assert.deepEqual(found, expected.toSorted(), said)
        assert.deepEqual([run.estimate, done], [expected.length, expected.length], said)
        await sql`update billing.webhook_calls set state = 'failed',
          processed_at = ${anHourAgo}`.execute(database.db)
        await sql`update billing.deliveries set state = 'failed',
          processed_at = ${anHourAgo}`.execute(database.db)
        await sql`update billing.deferred_events set state = 'failed',
          processed_at = ${anHourAgo}`.execute(database.db)
      }
    })

    test('of one gateway: deliveries about its payments', async () => {
      const payment = await newPayment(billing.core)
      const about = await failEvent(billing.database, { payment_id: payment.id })
      await failEvent(billing.database)
      await started(billing, { gateway: 'fake' })
      await goOn(billing.database)
      assert.deepEqual([...(await queued(billing.database))], [about])
    })

    test('a filter that matches nothing ends at once, and touches nothing', async () => {
      await failCalls(billing.database, 3)
      const run = await started(billing, { gateway: 'stripe' })
      await goOn(billing.database)
      const { state, done, waiting } = (await billing.core.runs.get(run.id)) ?? run
      assert.deepEqual([run.estimate, state, done, waiting], [0, 'finished', 0, 0])
      assert.equal((await queued(billing.database)).size, 0)
    })

    test('few that match among many are found, page by page', async () => {
      const { database } = billing
      await failCalls(database, 1_500)
      await failCall(database, { gateway: 'stripe' })
      await failCalls(database, 800)
      const last = await failCall(database, { gateway: 'stripe' })
      await started(billing, { gateway: 'stripe', kind: 'call' })
      const lease = (await takeRun(database.db, newUuid())) ?? assert.fail()
      const kinds: unknown[] = []
      for (let batches = 0; batches < 3; batches += 1) {
        kinds.push(await runBatch(database, lease))
      }
      assert.deepEqual(kinds, [
        { kind: 'requeued', count: 0, isLast: false },
        { kind: 'requeued', count: 1, isLast: false },
        { kind: 'requeued', count: 1, isLast: true },
      ])
      assert.ok((await queued(database)).has(last))
    })

    test('a hundred at a time, and each batch moves the cursor with what it puts back', async () => {
      const { core, database } = billing
      await failCalls(database, 250)
      const run = await started(billing)
      const lease = (await takeRun(database.db, newUuid())) ?? assert.fail()
      for (const done of [100, 200, 250]) {
        await runBatch(database, lease)
        assert.deepEqual(
          [(await core.runs.get(run.id))?.done, (await queued(database)).size],
          [done, done],
        )
      }
    })

    test('what fails again is counted once, and not replayed by the same run', async () => {
      const { core, database } = billing
      const { db } = database
      const replays = await watchReplays(database)
      await failCalls(database, 150)
      const run = await started(billing)
      const lease = (await takeRun(db, newUuid())) ?? assert.fail()
      await runBatch(database, lease)
      // Of the first batch: 30 fail again, 60 are processed, 10 wait on.
      await sql`update billing.webhook_calls set state = 'failed', processed_at = statement_timestamp()
        where id in (select id from billing.webhook_calls where state = 'pending' limit 30)`.execute(
        db,
      )
      await sql`update billing.webhook_calls set state = 'processed'
        where id in (select id from billing.webhook_calls where state = 'pending' limit 60)`.execute(
        db,
      )
      // It failed after the run had begun, and lies before its cursor.
      const fresh = await failCall(database, { processed_at: new Date(Date.now() + 60_000) })
      for (let times = 0; times < 3; times += 1) await runBatch(database, lease)
      for (let times = 0; times < 2; times += 1) await countEnded(database, lease)
      const { state, done, failedAgain, waiting } = (await core.runs.get(run.id)) ?? run
      assert.deepEqual([state, done, failedAgain, waiting], ['finished', 150, 30, 60])
      const noted = await replays()
      assert.deepEqual(
        [noted.length, new Set(noted).size, noted.includes(fresh)],
        [150, 150, false],
      )
    })

    test('what is pruned meanwhile no longer waits, and has not failed', async () => {
      const { core, database } = billing
      await failCalls(database, 2)
      const run = await started(billing)
      await goOn(database)
      await sql`delete from billing.webhook_calls`.execute(database.db)
      await sql`update billing.runs set looked_at = now() - interval '6 seconds'`.execute(
        database.db,
      )
      await goOn(database)
      const { failedAgain, waiting } = (await core.runs.get(run.id)) ?? run
      assert.deepEqual([failedAgain, waiting], [0, 0])
      assert.equal(await takeRun(database.db, newUuid()), undefined)
    })

    test('whoever has lost the lease changes nothing; another goes on behind the last batch', async () => {
      const { core, database } = billing
      const replays = await watchReplays(database)
      await failCalls(database, 250)
      const run = await started(billing)
      const first = (await takeRun(database.db, newUuid())) ?? assert.fail()
      await runBatch(database, first)
      assert.equal(await takeRun(database.db, newUuid()), undefined)
      await sql`update billing.runs set lease_until = now() - interval '1 second'`.execute(
        database.db,
      )
      const second = (await takeRun(database.db, newUuid())) ?? assert.fail()
      assert.deepEqual(await runBatch(database, first), { kind: 'lost' })
      await releaseRun(database.db, first)
      for (let times = 0; times < 4; times += 1) await runBatch(database, second)
      assert.equal((await core.runs.get(run.id))?.state, 'finished')
      const noted = await replays()
      assert.deepEqual([noted.length, new Set(noted).size], [250, 250])
    })

    test('a run that is stopped within a batch ends after it; the rest stays failed', async () => {
      const { core, database } = billing
      await failCalls(database, 250)
      const run = await started(billing)
      const lease = (await takeRun(database.db, newUuid())) ?? assert.fail()
      await runBatch(database, lease)
      const stopping = await core.runs.stop(run.id)
      assert.deepEqual([stopping.state, stopping.finishedAt], ['stopping', null])
      assert.deepEqual(await runBatch(database, lease), { kind: 'ended' })
      const { state, done, finishedAt } = await core.runs.stop(run.id)
      assert.deepEqual([state, done], ['stopped', 100])
      assert.ok(finishedAt)
      await releaseRun(database.db, lease)
      await goOn(database)
      assert.equal((await queued(database)).size, 100)
    })

    test('a run that nobody is at stops at once, and one that has ended stays as it is', async () => {
      await failCalls(billing.database, 1)
      const run = await started(billing)
      assert.equal((await billing.core.runs.stop(run.id)).state, 'stopped')
      await goOn(billing.database)
      assert.equal((await queued(billing.database)).size, 0)
      const other = await started(billing)
      await goOn(billing.database)
      assert.equal((await billing.core.runs.stop(other.id)).state, 'finished')
      for (const id of [newUuid(), 'none']) {
        await assert.rejects(billing.core.runs.stop(id), { code: 'run_not_found' })
        assert.equal(await billing.core.runs.get(id), undefined)
      }
    })

    test('a double press is one run; the same id with another filter is refused', async () => {
      const { core, database } = billing
      await failCalls(database, 5)
      const since = new Date('2026-01-01T00:00:00Z')
      const input = { id: newUuid(), gateway: 'fake', since } as const
      const both = await Promise.all([core.runs.start(input), core.runs.start(input)])
      assert.deepEqual(both[0], both[1])
      await goOn(database)
      const again = await core.runs.start(input)
      assert.deepEqual([again.state, again.done], ['finished', 5])
      assert.equal((await core.runs.list()).data.length, 1)
      await assert.rejects(core.runs.start({ id: input.id }), { code: 'run_exists' })
    })

    test('what it is started with is checked, and names the field', async () => {
      const id = newUuid()
      const [since, until] = [new Date(1), new Date(1)]
      const wrong = [
        [{ id: 'x' }, /^id/],
        [{ id, kind: 'all' }, /^kind/],
        [{ id, exception: 'one\ntwo' }, /^exception/],
        [{ id, since, until }, /^until/],
        [{ id, gatewya: 'fake' }, /gatewya/],
      ] as const
      for (const [input, message] of wrong) {
        const starting = billing.core.runs.start(input as unknown as StartRunInput)
        await assert.rejects(starting, { code: 'run_invalid', message })
      }
    })

    test('runs are listed newest first, page by page', async () => {
      const ids: string[] = []
      for (let times = 0; times < 3; times += 1) ids.unshift((await started(billing)).id)
      // Several may begin within a millisecond.
      await sql`update billing.runs set created_at = now() - interval '1 second' * array_position(
        ${ids}::uuid[], id)`.execute(billing.database.db)
      const first = await billing.core.runs.list({ limit: 2 })
      assert.ok(first.nextCursor)
      const last = await billing.core.runs.list({ limit: 2, cursor: first.nextCursor })
      assert.deepEqual(
        [...first.data, ...last.data].map(({ id }) => id),
        ids,
      )
      assert.equal(last.nextCursor, null)
    })

    test('events of a subscription wait again in their order, whatever their ids', async () => {
      const { database } = billing
      const subscription = { subscription_id: await insertSubscription(database.db) }
      // The clock of the process that wrote the first 130 was ahead of the other's.
      for (let number = 260; number > 0; number -= 1) {
        await failEvent(database, { ...subscription, event_number: number })
      }
      await started(billing)
      await goOn(database)
      const { rows } = await sql<{ number: number }>`
        select event_number as number from billing.deferred_events where state = 'pending'
        order by next_attempt_at, event_number`.execute(database.db)
      assert.deepEqual(
        rows.map(({ number }) => number),
        Array.from({ length: 260 }, (_none, index) => index + 1),
      )
    })

    test('a run that ended 30 days ago is pruned, with its items; one that goes on is not', async () => {
      const { core, database } = billing
      await failCalls(database, 1)
      const old = await started(billing)
      await goOn(database)
      const running = await started(billing)
      await sql`update billing.runs set created_at = now() - interval '31 days'`.execute(
        database.db,
      )
      await sql`update billing.runs set finished_at = created_at
        where finished_at is not null`.execute(database.db)
      await core.prune()
      assert.deepEqual(
        (await core.runs.list()).data.map(({ id }) => id),
        [running.id],
      )
      const items = await sql`select from billing.run_items`.execute(database.db)
      assert.deepEqual([items.rows.length, await core.runs.get(old.id)], [0, undefined])
    })

    test('a worker goes on with it: by its listener, first failing again, then not', async () => {
      let isBroken = true
      await using stated = await openStated(engine, {
        listen: ({ core }) =>
          core.on('PaymentSucceeded', 'grant', () => {
            if (isBroken) throw new Error('the shop is closed')
          }),
      })
      const { core, database } = stated
      const payment = await stated.create()
      await stated.deliver(paid(payment))
      const failed = async () => (await core.calls.list({ state: 'failed' })).data.length === 1
      // Nothing waits for the time of its next attempt, or look.
      const failOn = async () => {
        await sql`update billing.webhook_calls set next_attempt_at = now()
          where state = 'pending'`.execute(database.db)
        await sql`update billing.runs set looked_at = now() - interval '6 seconds'
          where lease_token is null`.execute(database.db)
        return failed()
      }
      await until(failOn, { what: 'the call has failed' })
      const filter = {
        listener: 'grant',
        exception: 'in listener grant: Error: the shop is closed',
      }
      const first = await core.runs.start({ id: newUuid(), ...filter })
      const ended = async (id: string) => {
        const run = await core.runs.get(id)
        return run?.state === 'finished' && run.done === 1 && run.waiting === 0
      }
      await until(async () => (await failOn()) && (await ended(first.id)), {
        what: 'the run has ended, and the call has failed again',
      })
      assert.equal((await core.runs.get(first.id))?.failedAgain, 1)
      isBroken = false
      const second = await core.runs.start({ id: newUuid(), ...filter })
      await until(
        async () => {
          await failOn()
          return ended(second.id)
        },
        {
          what: 'the second run has ended',
        },
      )
      assert.equal((await core.runs.get(second.id))?.failedAgain, 0)
      assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
    })

    if (engine.name === 'PostgreSQL') {
      test('three processes and two runs at once: each call comes back once', async () => {
        const { core, database } = billing
        const replays = await watchReplays(database)
        await failCalls(database, 900)
        const runs = [await started(billing), await started(billing, { kind: 'call' })]
        await Promise.all([goOn(database), goOn(database), goOn(database)])
        await goOn(database)
        const found = await Promise.all(runs.map(({ id }) => core.runs.get(id)))
        assert.deepEqual(
          found.map((run) => run?.state),
          ['finished', 'finished'],
        )
        assert.equal(
          found.reduce((sum, run) => sum + (run?.done ?? 0), 0),
          900,
        )
        const noted = await replays()
        assert.deepEqual([noted.length, new Set(noted).size], [900, 900])
      })
    }
  })
})
