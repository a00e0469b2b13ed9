import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from '../../src/database/connect.ts'
import { until } from '../support/billing.ts'
import {
  createOverHttp,
  finished,
  makeTable,
  postFakeOnce,
  type Deployment,
} from '../support/deployment.ts'
import { startService } from '../support/process.ts'

/** Kills the service at so many random moments under load: nothing is lost and nothing doubled. */
export async function killAtRandom(deployment: Deployment, kills: number): Promise<void> {
  const first = await startService(deployment)
  const before = await deployment.connect()
  await makeTable(before)
  await before.close()
  await first.stop()

  const accepted = new Map<string, number>()
  for (let round = 0; round < kills; round += 1) await killOnce(deployment, round, accepted)

  const last = await startService(deployment)
  const database = await deployment.connect()
  await finished(database, 180_000)
  await checkInvariants(database, accepted)
  assert.ok(accepted.size >= 2 * kills, `there was load: ${accepted.size} payments`)
  await database.close()
  assert.equal((await last.stop()).code, 0)
}

async function killOnce(
  deployment: Deployment,
  round: number,
  accepted: Map<string, number>,
): Promise<void> {
  const service = await startService(deployment)
  let alive = true
  const senders = Array.from({ length: 8 }, async () => {
    // A refused or reset connection is what the kill looks like from outside.
    while (alive) await payOnce(service.url, accepted).catch(() => {})
  })
  try {
    await killingMoment(round, accepted)
  } finally {
    await service.kill()
    alive = false
  }
  await Promise.all(senders)
}

/**
 * By turns a random moment after the start, early ones included, and one after a random number of
 * payments: there is load on a slow machine too.
 */
async function killingMoment(round: number, accepted: ReadonlyMap<string, number>): Promise<void> {
  if (round % 2 === 0) {
    await pause(20 + Math.random() * 400)
    return
  }
  const enough = accepted.size + 5 + Math.random() * 10
  await until(() => accepted.size >= enough, { what: 'there is load' })
  await pause(Math.random() * 50)
}

/** Creates a payment and pays it twice, counting the answers that were 200. */
async function payOnce(url: string, accepted: Map<string, number>): Promise<void> {
  const id = randomUUID()
  if (!(await createOverHttp(url, id))) return
  for (let delivery = 0; delivery < 2; delivery += 1) {
    if ((await postFakeOnce(url, id, 'success')) === 200) {
      accepted.set(id, (accepted.get(id) ?? 0) + 1)
    }
  }
}

/** What must hold after every fault. */
export async function checkInvariants(database: Database, accepted: ReadonlyMap<string, number>) {
  const ids = [...accepted.keys()]
  const { rows: calls } = await sql<{ id: string; calls: bigint }>`
    select payload->>'payment_id' as id, count(*) as calls from billing.webhook_calls group by 1`.execute(
    database.db,
  )
  const stored = new Map(calls.map((row) => [row.id, Number(row.calls)]))
  for (const [id, answers] of accepted) {
    assert.ok((stored.get(id) ?? 0) >= answers, `every 200 has its call: ${id}`)
  }
  const { rows: states } = await sql<{ state: string }>`
    select distinct state from billing.webhook_calls`.execute(database.db)
  assert.deepEqual(states, [{ state: 'processed' }], 'every call ends processed')
  const { rows: told } = await sql<{ payment_id: string; times: bigint }>`
    select payment_id, count(*) as times from told where type = 'PaymentSucceeded' group by 1`.execute(
    database.db,
  )
  const times = new Map(told.map((row) => [row.payment_id, Number(row.times)]))
  assert.deepEqual(
    ids.filter((id) => times.get(id) !== 1),
    [],
    'no event twice, none missing',
  )
  const { rows: odd } = await sql`
    select p.id from billing.payments p
    left join billing.events e on e.payment_id = p.id and e.type = 'PaymentSucceeded'
    left join told t on t.payment_id = p.id
    where (p.status = 'paid') <> (e.id is not null) or (e.id is null) <> (t.payment_id is null)`.execute(
    database.db,
  )
  assert.deepEqual(odd, [], 'a payment is paid exactly if it has its event and its listener’s row')
}
