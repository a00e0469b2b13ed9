import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../support/databases.ts'
import { ageCall } from '../support/id-made-at.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'

onPostgres((engine) => {
  let stated: StatedBilling
  before(async () => {
    stated = await openStated(engine)
  })
  after(() => stated.close())

  const oldCall = async () => {
    const payment = await stated.create()
    const call = await stated.say({ ...paid(payment), status: 'failed' })
    return { payment, id: await ageCall(stated.database.db, call.id, 31) }
  }

  test('a call that an older version marks while it is pruned is kept till its review is written', async () => {
    const { payment, id } = await oldCall()
    await stated.database.transaction(async ({ db }) => {
      await sql`update billing.webhook_calls set needs_review = true where id = ${id}::uuid`.execute(
        db,
      )
      assert.equal((await stated.core.prune()).deletedCalls, 0)
    })
    assert.equal((await stated.core.prune()).deletedCalls, 1)
    const { data } = await stated.core.reviews.list()
    assert.deepEqual(
      data.map(({ reason, state, webhookCallId, paymentId }) => [
        reason,
        state,
        webhookCallId,
        paymentId,
      ]),
      [['call_marked', 'open', id, payment.id]],
    )
  })

  test('the review of a call that is gone is handled as any other', async () => {
    const [review] = (await stated.core.reviews.list({ state: 'open' })).data
    assert.ok(review)
    const handled = await stated.core.reviews.handle(review.id, { note: 'seen' })
    assert.equal(handled.state, 'handled')
  })

  test('where reviews cannot be written, no call that needs one is deleted', async () => {
    const { id } = await oldCall()
    const { db } = stated.database
    await sql`update billing.webhook_calls set needs_review = true where id = ${id}::uuid`.execute(
      db,
    )
    await sql`alter table billing.reviews add constraint away check (reason <> 'call_marked') not valid`.execute(
      db,
    )
    await assert.rejects(stated.core.prune())
    assert.ok(await stated.core.calls.get(id))
    await sql`alter table billing.reviews drop constraint away`.execute(db)
    assert.equal((await stated.core.prune()).deletedCalls, 1)
    assert.equal((await stated.core.reviews.list({ state: 'open' })).data.length, 1)
  })
})
