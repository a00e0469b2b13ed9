import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import type { BillingEvent } from '../../../src/events/catalogue.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { createListenerRegistry } from '../../../src/listeners/listeners.ts'
import { queueDeliveries } from '../../../src/listeners/dispatch-events.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'

onPostgres((engine) => {
  const rolled = rollingBack(engine)

  const registered = () => {
    const listeners = createListenerRegistry()
    const shared = { queued: true, superseded: false, run: () => {} }
    listeners.add({ ...shared, name: 'mail', types: ['PaymentSucceeded'] })
    listeners.add({ ...shared, name: 'report', types: ['PaymentSucceeded'] })
    listeners.add({ ...shared, name: 'other', types: ['PaymentFailed'] })
    listeners.add({ ...shared, name: 'direct', types: ['PaymentSucceeded'], queued: false })
    return listeners
  }
  const insertEvent = async (db: Kysely<Tables>, superseded = false): Promise<BillingEvent> => {
    const id = newUuid()
    const row = {
      id,
      dedup_key: id,
      type: 'PaymentSucceeded',
      source: 'poll',
      data: '{}',
      superseded,
    } as const
    await db.insertInto('billing.events').values(row).execute()
    return { id, type: 'PaymentSucceeded', superseded } as BillingEvent
  }
  const written = async (db: Kysely<Tables>) =>
    db
      .selectFrom('billing.deliveries')
      .select(['event_id', 'listener', 'queue', 'state'])
      .orderBy('id')
      .execute()

  test(
    'deliveries are due to the queued listeners of each event, in the queue of its source',
    rolled(async (db) => {
      const [one, two] = [await insertEvent(db), await insertEvent(db)]
      const dispatched = [
        { events: [one], queue: 'x' },
        { events: [], queue: 'y' },
        { events: [two], queue: 'default' },
      ]
      await queueDeliveries(db, dispatched, { listeners: registered(), newId: newUuid })
      const due = (event: BillingEvent, queue: string) =>
        ['mail', 'report'].map((listener) => ({
          event_id: event.id,
          listener,
          queue,
          state: 'pending',
        }))
      assert.deepEqual(await written(db), [...due(one, 'x'), ...due(two, 'default')])
    }),
  )

  test(
    'deliveries of a superseded event are due to those that asked for such',
    rolled(async (db) => {
      const listeners = registered()
      const asking = { name: 'asking', types: ['PaymentSucceeded'], superseded: true } as const
      listeners.add({ ...asking, queued: true, run: () => {} })
      const late = await insertEvent(db, true)
      const dispatched = [{ events: [late], queue: 'default' }]
      await queueDeliveries(db, dispatched, { listeners, newId: newUuid })
      assert.deepEqual(
        (await written(db)).map(({ listener }) => listener),
        ['asking'],
      )
    }),
  )
})
