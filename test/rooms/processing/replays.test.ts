import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql, type Insertable } from 'kysely'
import type { DeliveriesTable, WebhookCallsTable } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { onPostgres } from '../../support/databases.ts'
import { assertDueAfter, call, callRow, deliveries, useRoom } from './room.ts'

onPostgres(() => {
  const room = useRoom()
  const longAgo = new Date('2026-01-01T00:00:00Z')

  /** A call in this state. */
  const callIn = async (
    state: 'processed' | 'ignored' | 'failed' | 'pending',
    fields: Partial<Insertable<WebhookCallsTable>> = {},
  ) => {
    const { id } = await call(room, [])
    const free = { lease_token: null, lease_until: null, state, next_attempt_at: longAgo }
    const update = room.db.updateTable('billing.webhook_calls').set({ ...free, ...fields })
    await update.where('id', '=', id).execute()
    return { id }
  }
  /** A delivery of an event that this call claimed. */
  const deliveryOf = async (
    { id }: { readonly id: string },
    fields: Partial<Insertable<DeliveriesTable>>,
  ) => {
    const event = { id: newUuid(), dedup_key: newUuid(), type: 'PaymentSucceeded', data: '{}' }
    await room.db
      .insertInto('billing.events')
      .values({ ...event, source: 'call' })
      .execute()
    const claims = sql<string>`dedup_claims || to_jsonb(${event.dedup_key}::text)`
    const call = room.db.updateTable('billing.webhook_calls').set({ dedup_claims: claims })
    await call.where('id', '=', id).execute()
    const row = {
      id: newUuid(),
      event_id: event.id,
      listener: 'queued',
      queue: 'default',
      attempts: 3,
      leases_lost: 1,
      times_returned: 2,
      next_attempt_at: longAgo,
      processed_at: longAgo,
      ...fields,
    }
    await room.db.insertInto('billing.deliveries').values(row).execute()
  }
  const shown = async () =>
    (await deliveries(room)).map((row) => [
      row.state,
      row.attempts,
      row.leases_lost,
      row.times_returned,
      row.processed_at === null,
    ])

  for (const state of ['processed', 'ignored', 'failed'] as const) {
    test(`a call that is ${state} is put back into the queue as if it had just come`, async () => {
      const { id } = await callIn(state, {
        attempts: 3,
        leases_lost: 1,
        times_returned: 2,
        awaiting: 'id:x',
        awaiting_also: 'id:y',
        processed_at: longAgo,
      })
      await room.replay(id)
      const row = await callRow(room, { id })
      assert.deepEqual(
        [row.state, row.attempts, row.leases_lost, row.times_returned, row.processed_at],
        ['pending', 0, 0, 0, null],
      )
      assert.deepEqual([row.awaiting, row.awaiting_also], [null, null])
      assertDueAfter(room, row.next_attempt_at, 0)
    })
  }

  test('deliveries of its events that failed for good are tried again, and no others', async () => {
    const replayed = await callIn('processed')
    const other = await callIn('processed')
    await deliveryOf(replayed, { state: 'failed' })
    await deliveryOf(replayed, { state: 'processed' })
    await deliveryOf(other, { state: 'failed' })
    await room.replay(replayed.id)
    const [failed, ...others] = await shown()
    assert.deepEqual(failed, ['pending', 0, 0, 0, true])
    assert.deepEqual(others, [
      ['processed', 3, 1, 2, false],
      ['failed', 3, 1, 2, false],
    ])
    assertDueAfter(room, (await deliveries(room))[0]?.next_attempt_at ?? null, 0)
  })

  describe('a replay is refused', () => {
    test('of a call that is under way', async () => {
      const pending = await callIn('pending')
      await deliveryOf(pending, { state: 'failed' })
      const leased = await call(room, [])
      for (const [{ id }, state] of [
        [pending, 'pending'],
        [leased, 'processing'],
      ] as const) {
        const refusal = { code: 'call_in_progress', message: `call ${id} is ${state}` }
        await assert.rejects(room.replay(id), refusal)
      }
      assert.deepEqual(await shown(), [['failed', 3, 1, 2, false]])
    })

    test('of a call that is not there', async () => {
      const id = newUuid()
      await assert.rejects(room.replay(id), {
        code: 'call_not_found',
        message: `there is no call "${id}"`,
      })
    })

    test('of what is no id', async () => {
      const refusal = { code: 'call_not_found', message: 'there is no call "x\'; drop"' }
      await assert.rejects(room.replay(`x'; drop`), refusal)
    })
  })
})
