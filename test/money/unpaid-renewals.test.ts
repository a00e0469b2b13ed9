import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../support/databases.ts'
import type { StatedBilling } from '../support/stated-billing.ts'
import { openScripted, pollReply, type Script } from './scripted.ts'

/** A renewal that was declined may be paid later: its provider tries again by itself. */
onPostgres((engine) => {
  let billing: StatedBilling
  let script: Script
  before(async () => {
    ;({ billing, script } = await openScripted(engine))
  })
  after(() => billing.close())

  const decline = async (gateway: string, providerReference: string) => {
    const first = await billing.create({ gateway, checkout: false })
    const money = { amount: first.amount, currency: first.currency }
    const paid = { type: 'payment', status: 'paid', payment: { id: first.id }, ...money } as const
    await billing.sayBy(gateway, paid)
    const renewal = {
      ...paid,
      status: 'failed',
      payment: { providerReference },
      renews: { id: first.id },
    } as const
    await billing.sayBy(gateway, renewal)
    const { rows } = await sql<{ id: string; due: boolean }>`
      update billing.payments set handed_at = handed_at - interval '1 day',
        next_poll_at = next_poll_at - interval '1 day'
      where provider_reference = ${providerReference}
      returning id, next_poll_at < clock_timestamp() as due`.execute(billing.database.db)
    const [row] = rows
    assert.ok(row)
    return { ...row, money }
  }

  test('it is asked after, and found paid where the callback that says so is lost', async () => {
    const { id, due, money } = await decline('scripted', 'ch_2')
    assert.equal(due, true)
    script.poll = async ({ payment }) =>
      payment.id === id
        ? pollReply([{ type: 'payment', status: 'paid', payment: { id }, ...money }], {
            standing: 'paid',
          })
        : pollReply()
    await billing.core.reconcile({ gateway: 'scripted' })
    const { status, events } = await billing.details({ id })
    assert.equal(status, 'paid')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['PaymentFailed', 'PaymentSucceeded'],
    )
  })

  test('where its provider knows it by no id of ours, nobody is asked', async () => {
    const { due } = await decline('stating', 'ch_3')
    assert.equal(due, null)
  })
})
