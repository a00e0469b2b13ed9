import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { until } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { apiToken, deploy, makeTable } from '../support/deployment.ts'
import { startService, startWorker, type RunningService } from '../support/process.ts'

const calls = 900

/** Calls that failed, and a row for each time that one comes back into the queue, which takes a while. */
async function failSlowly({ db }: Database): Promise<void> {
  await sql`create table replays (id uuid not null)`.execute(db)
  await sql`create function note_replay() returns trigger language plpgsql as $$
    begin perform pg_sleep(0.004); insert into replays values (new.id); return null; end $$`.execute(
    db,
  )
  await sql`create trigger note_replay after update on billing.webhook_calls for each row
    when (old.state = 'failed' and new.state = 'pending') execute function note_replay()`.execute(
    db,
  )
  await sql`
    insert into billing.webhook_calls
      (id, gateway, queue, url, headers, kind, payload, state, attempts, processed_at)
    select gen_random_uuid(), 'fake', 'default', '/', '{}', 'json', '{}', 'failed', 3,
      now() - interval '1 minute'
    from generate_series(1, ${calls}::int)`.execute(db)
}

async function askApi({ url }: RunningService, path: string, body?: object) {
  const answer = await fetch(`${url}/billing/api${path}`, {
    headers: { authorization: `Bearer ${apiToken}` },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  return (await answer.json()) as { readonly state: string; readonly done: number }
}

/** Who was killed holds its lease for 30 seconds: they are over. Another would lose it as well. */
async function endLease({ db }: Database): Promise<void> {
  await sql`update billing.runs set lease_until = now() where lease_token is not null`.execute(db)
}

async function replayed({ db }: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`select id from replays`.execute(db)
  return rows.map(({ id }) => id)
}

async function assertEachOnce(database: Database): Promise<void> {
  const ids = await replayed(database)
  assert.deepEqual([ids.length, new Set(ids).size], [calls, calls])
}

onAnyDatabase((engine) => {
  test('kill -9 in the middle of a run: after a new start each call is replayed exactly once', async () => {
    const deployment = await deploy(engine)
    const id = randomUUID()
    const first = await startService(deployment)
    const before = await deployment.connect()
    await makeTable(before)
    await failSlowly(before)
    await before.close()
    await askApi(first, '/runs', { id })
    await until(async () => (await askApi(first, `/runs/${id}`)).done > 0, {
      what: 'the run is in the middle',
    })
    await first.kill()
    const next = await startService(deployment)
    const database = await deployment.connect()
    const { length } = await replayed(database)
    assert.ok(length > 0 && length < calls, `killed after ${length} calls`)
    await endLease(database)
    await until(async () => (await askApi(next, `/runs/${id}`)).state === 'finished', {
      what: 'the run is finished',
    })
    assert.equal((await askApi(next, `/runs/${id}`)).done, calls)
    await assertEachOnce(database)
    await database.close()
    await next.stop()
    await deployment.remove()
  })
})

onPostgres((engine) => {
  test('of three processes one is killed: the others go on; a run that is stopped replays no more', async () => {
    const deployment = await deploy(engine)
    const database = await deployment.connect()
    await makeTable(database)
    await failSlowly(database)
    const service = await startService({ ...deployment, args: ['--no-worker'] })
    const heir = await startWorker(deployment)
    const again = await startService({ ...deployment, args: ['--no-worker'] })
    const id = randomUUID()
    await askApi(service, '/runs', { id })
    await until(async () => (await askApi(service, `/runs/${id}`)).done > 0, {
      what: 'somebody is at it',
    })
    await service.kill()
    await endLease(database)
    const { done } = await askRow(database, id)
    assert.ok(done < calls, `killed after ${done} calls`)
    await until(async () => (await askRow(database, id)).done > done, {
      what: 'the others go on',
    })
    const stopped = await askApi(again, `/runs/${id}/stop`, {})
    await until(async () => (await askRow(database, id)).state !== 'stopping', {
      what: 'the run has ended',
    })
    const ended = await askRow(database, id)
    assert.ok(['stopping', 'stopped', 'finished'].includes(stopped.state))
    const ids = await replayed(database)
    assert.deepEqual([ids.length, new Set(ids).size], [ended.done, ended.done])
    // What is left is of another run.
    const rest = randomUUID()
    await askApi(again, '/runs', { id: rest })
    await until(async () => (await askRow(database, rest)).state === 'finished', {
      what: 'the second run is finished',
    })
    await assertEachOnce(database)
    await Promise.all([heir.stop(), again.stop()])
    await database.close()
    await deployment.remove()
  })
})

async function askRow({ db }: Database, id: string) {
  const select = db.selectFrom('billing.runs').select(['state', 'done'])
  return select.where('id', '=', id).executeTakeFirstOrThrow()
}
