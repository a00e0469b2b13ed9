import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { idle, newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { ageCall } from '../support/id-made-at.ts'
import { paid, refund } from '../support/statements.ts'
import { statedCall, stating, type Statement } from '../support/stating-gateway.ts'

onPostgres((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine, { extraGateways: [stating] })
  })
  after(() => billing.close())

  const create = () => newPayment(billing.core, { gateway: 'stating', amount: 10_000 })
  /** A callback of 31 days ago, processed; the id of its call. */
  const sayLongAgo = async (statement: Statement) => {
    const { core, database } = billing
    const worker = await core.work()
    assert.equal((await core.receive(statedCall([statement]))).status, 200)
    await idle(core)
    await worker.stop()
    const [call] = (await core.calls.list({ limit: 1 })).data
    return ageCall(database.db, call?.id ?? '', 31)
  }

  test('a marked call that is replayed keeps its mark till its new end, and is not pruned', async () => {
    const { core, database } = billing
    const payment = await create()
    const differing = await sayLongAgo({ ...paid(payment), amount: 1n })
    const early = await sayLongAgo(refund(payment, 're_early'))
    const failed = await sayLongAgo(paid(payment))
    await sql`update billing.webhook_calls set needs_review = true,
      state = case when id = ${failed}::uuid then 'failed' else state end`.execute(database.db)
    await core.calls.replay(differing)
    await core.calls.replay(early)
    await core.calls.replayFailed()
    const stateOf = async (id: string) => {
      const { state, needsReview } = (await core.calls.get(id)) ?? {}
      return `${state} ${needsReview}`
    }
    assert.equal(await stateOf(differing), 'pending true')
    assert.equal(await stateOf(early), 'pending true')
    assert.equal(await stateOf(failed), 'pending true')
    assert.equal((await core.prune()).deletedCalls, 0)
    const worker = await core.work()
    await idle(core)
    await worker.stop()
    assert.equal(await stateOf(differing), 'ignored true')
    assert.equal(await stateOf(early), 'processed false', 'its charge is paid by now')
    assert.equal(await stateOf(failed), 'processed false')
    await core.prune()
  })

  test('a review outlives its call, and is handled as any other', async () => {
    const { core } = billing
    const payment = await create()
    const id = await sayLongAgo({ ...paid(payment), amount: 9_000n })
    assert.equal((await core.prune()).deletedCalls, 1)
    assert.equal(await core.calls.get(id), undefined)
    const { data } = await core.reviews.list({ paymentId: payment.id })
    assert.deepEqual(
      data.map((one) => [one.reason, one.state]),
      [['amount_mismatch', 'open']],
    )
    const handled = await core.reviews.handle(data[0]?.id ?? '', { note: 'seen' })
    assert.equal(handled.state, 'handled')
  })
})
