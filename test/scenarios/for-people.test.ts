import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { BillingCore } from '../../src/billing/types.ts'
import { newPayment, openBilling, until } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'

/** What looks wait for here: they read it, and nothing else does. */
const lock = 'lock table billing.operator_actions in access exclusive mode'

onPostgres((engine) => {
  test('what people look at takes two connections of its own, and no work waits for it', async () => {
    await using billing = await openBilling(engine)
    const { core, url } = billing
    await using blocker = await openClient(url)
    await using watcher = await openClient(url)
    const people = core.forPeople()
    await blocker.query('begin')
    await blocker.query(lock)
    const looks = Array.from({ length: 20 }, () =>
      people.operators.actions().then(
        () => 'read',
        () => 'refused',
      ),
    )
    await until(async () => (await waiting(watcher, 'quittance console')) === 2, {
      what: 'two looks wait for the lock',
    })
    assert.deepEqual((await people.readiness()).problems, [], 'callbacks are taken')
    const { id } = await newPayment(core, { checkout: false })
    assert.equal((await core.payments.get(id))?.id, id)
    assert.equal(await waiting(watcher, 'quittance'), 0)
    assert.ok((await Promise.all(looks)).includes('refused'), 'none is waited for without an end')
    await blocker.query('rollback')
    assert.deepEqual((await people.operators.actions()).data, [])
  })

  test('what people look at ends sooner than work that takes as long', async () => {
    await using billing = await openBilling(engine)
    await using owner = await openClient(billing.url)
    await owner.query('alter table billing.operator_actions rename to actions_by_now')
    await owner.query(
      `create view billing.operator_actions as
       select * from billing.actions_by_now where (select pg_sleep(60) is not null)`,
    )
    const ended: string[] = []
    const look = async (core: BillingCore, who: string) => {
      await assert.rejects(() => core.operators.actions(), { code: '57014' })
      ended.push(who)
    }
    await Promise.all([look(billing.core, 'work'), look(billing.core.forPeople(), 'people')])
    assert.deepEqual(ended, ['people', 'work'])
  })
})

async function openClient(connectionString: string | undefined) {
  const client = new pg.Client({ connectionString })
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() })
}

async function waiting(watcher: pg.Client, application: string): Promise<number> {
  const { rows } = await watcher.query<{ count: string }>(
    `select count(*) from pg_stat_activity
     where datname = current_database() and application_name = $1 and wait_event_type = 'Lock'`,
    [application],
  )
  return Number(rows[0]?.count)
}
