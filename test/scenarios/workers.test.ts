import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { countWorkers } from '../../src/database/workers.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { openBilling, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  const count = () => countWorkers(billing.database.db)
  const counts = (workers: number) =>
    until(async () => (await count()) === workers, { what: `${workers} are counted` })
  const rows = async () => {
    const { db } = billing.database
    const present = await db.selectFrom('billing.workers').select('id').execute()
    return present.map(({ id }) => id)
  }
  /** The row of a worker that was killed, as it is so long afterwards. */
  const killed = async (secondsAgo: number, id = newUuid()) => {
    await sql`insert into billing.workers (id, seen_at)
      values (${id}, now() - make_interval(secs => ${secondsAgo}))
      on conflict (id) do update set seen_at = excluded.seen_at`.execute(billing.database.db)
    return id
  }

  test('a worker is counted from its start to its end', async () => {
    const workers = await Promise.all([billing.core.work(), billing.core.work()])
    await counts(2)
    await workers[0].stop()
    assert.equal(await count(), 1)
    await workers[1].stop()
    assert.deepEqual(await rows(), [])
  })

  test('one that was killed counts for half a minute; others forget it then', async () => {
    const gone = await killed(31)
    const late = await killed(15)
    assert.equal(await count(), 1)
    const worker = await billing.core.work()
    await until(async () => !(await rows()).includes(gone), { what: 'it is forgotten' })
    await killed(15, late)
    assert.equal(await count(), 2)
    await worker.stop()
    assert.deepEqual(await rows(), [late])
  })

  test('one that ends by itself, for want of a listener, is counted no more; nor is mere upkeep', async () => {
    const { db } = billing.database
    await sql`delete from billing.workers`.execute(db)
    const worker = await billing.core.work()
    await counts(1)
    await sql`insert into billing.listeners (name, event_types, queued)
      values ('of another process', '{PaymentSucceeded}', false)`.execute(db)
    assert.match((await worker.ended)?.message ?? '', /of another process/)
    await counts(0)
    await worker.stop()
    await sql`delete from billing.listeners`.execute(db)
    const upkeep = await billing.core.work({ upkeepOnly: true })
    assert.deepEqual(await rows(), [])
    await upkeep.stop()
  })
})
