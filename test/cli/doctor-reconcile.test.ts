import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { openReview } from '../../src/database/reviews.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { onPostgres } from '../support/databases.ts'
import { assertFinding, doctor } from './doctor.ts'
import { deployMoney, type MoneyDeployment } from './money-deployment.ts'

onPostgres((engine) => {
  let money: MoneyDeployment
  before(async () => {
    money = await deployMoney(engine)
  })
  after(() => money[Symbol.asyncDispose]())
  const look = (env = money.env) => doctor({ cwd: money.deployment.cwd, env })

  test('doctor tells whether payments that wait are polled', async () => {
    assertFinding((await look()).of('reconcile'), 'ok', /no payment is overdue/)
    const id = await money.create({})
    await money.makeDue([id], 14)
    assertFinding((await look()).of('reconcile'), 'ok', /no payment is overdue/)
    await money.makeDue([id], 16)
    const overdue = /provider should have been asked 15 minutes ago: 1.* — .*quittance reconcile$/
    assertFinding((await look()).of('reconcile'), 'warning', overdue)
    const { SCRIPTED_API_KEY: _, ...without } = money.env
    const { findings } = await look(without)
    const lacking = findings.find(({ check }) => check === 'reconcile')
    assert.ok(lacking)
    const said = /scripted cannot be asked about 1 payment — Set SCRIPTED_API_KEY\.$/
    assertFinding(lacking, 'warning', said)
  })

  test('doctor names what a person must look at, whoever has found it', async () => {
    assertFinding((await look()).of('review'), 'ok', /no review is open/)
    const { db } = money.database
    const finding = { gateway: 'scripted', reason: 'poll_unclear', callId: null } as const
    const stated = { reference: 'cs_1' }
    const { id } = await db
      .transaction()
      .execute((tx) => openReview(tx, { ...finding, stated }, newUuid))
    const found = /a person must look at: 1.* — List them: quittance reviews list --state open/
    assertFinding((await look()).of('review'), 'warning', found)
    await db.deleteFrom('billing.reviews').where('id', '=', id).execute()
  })

  test('doctor tells why the last run failed, once', async () => {
    await sql`
      insert into billing.schedules (name, next_run_at, last_error)
      values ('reconcile', now() + interval '1 minute', 'out of reach: scripted')
    `.execute(money.database.db)
    await sql`update billing.payments set next_poll_at = null`.execute(money.database.db)
    const { of, text } = await look()
    const failed =
      /schedule reconcile failed, out of reach: scripted — .*by hand: quittance reconcile/
    assertFinding(of('schedules'), 'warning', failed)
    assertFinding(of('reconcile'), 'ok', /no payment is overdue/)
    assert.equal(text.split('out of reach').length, 2)
  })
})
