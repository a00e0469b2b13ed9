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

  const decline = async (
    gateway: string,
    providerReference: string,
    { amount }: { readonly amount?: bigint } = {},
  ) => {
    const first = await billing.create({ gateway, checkout: false })
    const { currency } = first
    const paid = { type: 'payment', status: 'paid', payment: { id: first.id } } as const
    await billing.sayBy(gateway, { ...paid, amount: first.amount, currency })
    const money = { amount: amount ?? first.amount, currency }
    const renewal = {
      ...paid,
      ...money,
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
    return { ...row, first, money }
  }

  test('it is polled, and found paid where the callback that says so is lost', async () => {
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

  test('found paid by a poll alone with other money than the first one, it is for a person', async () => {
    const { id, first, money } = await decline('scripted', 'ch_4', { amount: 1n })
    script.poll = async () =>
      pollReply(
        [
          {
            type: 'payment',
            status: 'paid',
            payment: { providerReference: 'ch_4' },
            renews: { id: first.id },
            ...money,
          },
        ],
        { standing: 'paid' },
      )
    const { payment } = await billing.core.payments.poll(id)
    assert.equal(payment.status, 'paid')
    assert.equal(payment.pollError, 'needs a review: payment:paid (renewal_money_differs)')
    assert.equal((await billing.details({ id })).pollError, payment.pollError)
  })

  test('where its provider knows it by no id of ours, nobody is asked', async () => {
    const { due } = await decline('stating', 'ch_3')
    assert.equal(due, null)
  })
})
