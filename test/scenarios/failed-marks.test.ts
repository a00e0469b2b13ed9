import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import type { WebhookCall } from '../../src/events/webhook-call.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { newPayment, openBilling, idle } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { ageCall } from '../support/id-made-at.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import { statedCall, stating } from '../support/stating-gateway.ts'

/** What a listener does to a call: nothing, or it fails, or it takes the transaction with it. */
type Trouble = 'none' | 'throws' | 'commits'

onPostgres((engine) => {
  let stated: StatedBilling
  let trouble: Trouble = 'none'
  const listener = async (_event: unknown, { tx }: ListenerContext) => {
    if (trouble === 'commits') await tx.query('commit')
    if (trouble !== 'none') throw new Error('the shop is closed')
  }
  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) => {
        core.on('PaymentSucceeded', 'grant', listener)
        core.on('PaymentRefunded', 'take back', listener)
      },
    })
  })
  beforeEach(() => {
    trouble = 'none'
  })
  after(() => stated.close())

  const makeDue = () =>
    sql`update billing.webhook_calls set next_attempt_at = clock_timestamp()
      where state = 'pending'`.execute(stated.database.db)
  /** Each attempt of it fails; how it stands after each. */
  const failThrice = async (call: WebhookCall) => {
    const standings: string[] = []
    for (const attempt of [1, 2, 3]) {
      await makeDue()
      const { state, needsReview } = await stated.attempted(call, attempt)
      standings.push(`${state} ${needsReview}`)
    }
    return standings
  }
  const latest = async () => {
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    return call
  }
  const replayed = async ({ id }: { readonly id: string }) => {
    await stated.core.calls.replay(id)
    await stated.retry()
    const call = await stated.core.calls.get(id)
    return `${call?.state} ${call?.needsReview}`
  }
  for (const kind of ['throws', 'commits'] as const) {
    test(`what a person must look at is marked though each listener ${kind}`, async () => {
      const payment = await stated.createPaid()
      trouble = kind
      await stated.deliver(refund(payment, `re_${kind}`, { amount: 30_000n }))
      const call = await latest()
      assert.deepEqual(await failThrice(call), ['pending true', 'pending true', 'failed true'])
      trouble = 'none'
      assert.equal(await replayed(call), 'processed true')
    })
  }

  test('a call that fails for good is marked, has a review, and brings its event when it is replayed', async () => {
    const payment = await stated.create()
    trouble = 'throws'
    await stated.deliver(paid(payment))
    const call = await latest()
    assert.deepEqual(await failThrice(call), ['pending false', 'pending false', 'failed true'])
    const failures = async () =>
      (await stated.core.reviews.list({ paymentId: payment.id })).data.map(
        ({ reason, state, times, operator }) => [reason, state, times, operator],
      )
    assert.deepEqual(await failures(), [['call_failed', 'open', 1, null]])
    trouble = 'none'
    assert.equal(await replayed(call), 'processed false')
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded'])
    assert.deepEqual(await failures(), [['call_failed', 'handled', 1, 'service']])
  })

  test('a call that fails for good once more, after a person has handled it, is for a person again', async () => {
    const payment = await stated.create()
    trouble = 'throws'
    await stated.deliver(paid(payment))
    const call = await latest()
    await failThrice(call)
    const [review] = (await stated.core.reviews.list({ paymentId: payment.id })).data
    assert.ok(review)
    assert.match(review.detail ?? '', /^in listener grant: Error: the shop is closed/)
    await stated.core.reviews.handle(review.id, { note: 'the shop is open again' })
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, false)
    await stated.core.calls.replay(call.id)
    await failThrice(call)
    const again = await stated.core.reviews.get(review.id)
    assert.deepEqual(
      [again?.state, again?.version, again?.note],
      ['open', 3, 'the shop is open again'],
    )
    assert.equal((await stated.core.calls.get(call.id))?.needsReview, true)
  })

  test('a marked call that is replayed keeps its mark till its new end, and is not pruned', async () => {
    await using billing = await openBilling(engine, { extraGateways: [stating] })
    const { core, database } = billing
    const worker = await core.work()
    const payment = await newPayment(core, { gateway: 'stating', amount: 10_000 })
    for (const statement of [{ ...paid(payment), amount: 1n }, paid(payment)]) {
      assert.equal((await core.receive(statedCall([statement]))).status, 200)
      await idle(core)
    }
    const ids = (await core.calls.list({})).data.map(({ id }) => id)
    const [failed = '', differing = ''] = await Promise.all(
      ids.map((id) => ageCall(database.db, id, 31)),
    )
    await sql`update billing.webhook_calls set needs_review = true,
      state = case when id = ${failed}::uuid then 'failed' else state end`.execute(database.db)
    await worker.stop()
    await core.calls.replay(differing)
    await core.calls.replayFailed()
    const stateOf = async (id: string) => {
      const { state, needsReview } = (await core.calls.get(id)) ?? {}
      return `${state} ${needsReview}`
    }
    assert.equal(await stateOf(differing), 'pending true')
    assert.equal(await stateOf(failed), 'pending true')
    assert.equal((await core.prune()).deletedCalls, 0)
    await core.work()
    await idle(core)
    assert.equal(await stateOf(differing), 'ignored true')
    assert.equal(await stateOf(failed), 'processed false')
  })
})
