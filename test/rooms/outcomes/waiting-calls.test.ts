import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import {
  waitingCalls,
  awaitingKey,
  requeueCallsAwaiting,
  requeueCallsWithPayment,
} from '../../../src/outcomes/waiting-calls.ts'
import { keepSubscriptionReference } from '../../../src/database/subscription-references.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'
import { charge, counting, idOf, nameOf, storedCall } from './room.ts'

const ended = { state: 'ignored' } as const
const names = (ids: readonly string[]) => ids.map(nameOf).toSorted()
const references = { checkoutReference: 'cs_1', providerReference: 'pi_1' }
/** Every name that `a` may be waited for by. */
const keys = {
  id: `id:${idOf('a')}`,
  checkout: 'checkout:x/cs_1',
  charge: 'provider:x/pi_1',
  subscription: 'subscription:x/sub_1',
}

onPostgres((engine) => {
  const rolledBack = rollingBack(engine)

  test('what a call waits for says by which name, and of whom', () => {
    assert.equal(awaitingKey('x', { id: idOf('a') }), keys.id)
    assert.equal(awaitingKey('x', { checkoutReference: 'cs_1' }), keys.checkout)
    assert.equal(awaitingKey('x', { providerReference: 'pi_1' }), keys.charge)
    assert.equal(awaitingKey('x', { subscriptionReference: 'sub_1' }), keys.subscription)
  })

  test(
    'whoever creates a payment puts back the calls that wait for it, by whichever name, as if they had just come',
    rolledBack(async (db) => {
      const payment = await charge(db, 'a', references)
      await storedCall(db, 'a', { ...ended, awaiting: keys.id, attempts: 2, needs_review: true })
      await storedCall(db, 'b', { ...ended, awaiting: 'id:other', awaiting_also: keys.checkout })
      await storedCall(db, 'c', { state: 'processed', awaiting: keys.charge })
      await storedCall(db, 'd', { ...ended, awaiting: 'checkout:y/cs_1' })
      await storedCall(db, 'e', { state: 'failed', awaiting: keys.id })
      assert.deepEqual(names(await requeueCallsAwaiting(db, payment)), ['a', 'b', 'c'])
      const { rows } = await sql<{ call: string }>`
        select concat_ws(' ', left(id::text, 1), state, attempts, awaiting, awaiting_also,
          needs_review, processed_at is null) as call
        from billing.webhook_calls order by id`.execute(db)
      assert.deepEqual(
        rows.map(({ call }) => call),
        [
          'a pending 0 t t',
          'b pending 0 f t',
          'c pending 0 f t',
          'd ignored 0 checkout:y/cs_1 f f',
          `e failed 0 ${keys.id} f f`,
        ],
      )
    }),
  )

  test(
    'a payment without ids of the provider’s is waited for by its own alone',
    rolledBack(async (db) => {
      const payment = await charge(db, 'a')
      await storedCall(db, 'a', { ...ended, awaiting: 'checkout:x/null' })
      await storedCall(db, 'b', { ...ended, awaiting: 'provider:x/null' })
      await storedCall(db, 'c', { ...ended, awaiting: keys.id })
      await storedCall(db, 'd', ended)
      assert.deepEqual(names(await requeueCallsAwaiting(db, payment)), ['c'])
    }),
  )

  const elsewhere = `id:${idOf('e')}`
  const waitForAll = async (db: Kysely<Tables>) => {
    await storedCall(db, 'a', { ...ended, awaiting: keys.id })
    await storedCall(db, 'b', { state: 'processed', awaiting: keys.checkout })
    await storedCall(db, 'c', { ...ended, awaiting: elsewhere, awaiting_also: keys.charge })
    await storedCall(db, 'd', { ...ended, awaiting: keys.subscription })
    await storedCall(db, 'e', { ...ended, awaiting: elsewhere, awaiting_also: elsewhere })
    await storedCall(db, 'f', { state: 'failed', awaiting: keys.id })
  }

  test(
    'the sweeper puts back all calls whose payment is there by now, and no others',
    rolledBack(async (db) => {
      await waitForAll(db)
      const counted = counting(db)
      assert.deepEqual(await requeueCallsWithPayment(counted.db), [])
      assert.equal(counted.statements(), 2, 'while there is none, calls are only read')
      await charge(db, 'a', references)
      await keepSubscriptionReference(db, idOf('a'), 'sub_1')
      assert.deepEqual(names(await requeueCallsWithPayment(db)), ['a', 'b', 'c', 'd'])
      assert.deepEqual(await requeueCallsWithPayment(db), [])
    }),
  )

  test(
    'an id is that of the name that it was given as, and one that no payment can have harms no other',
    rolledBack(async (db) => {
      await charge(db, 'a', { checkoutReference: '1', providerReference: '2' })
      await charge(db, 'b', { checkoutReference: '3', providerReference: '4' })
      await keepSubscriptionReference(db, idOf('b'), '5')
      await storedCall(db, 'a', { ...ended, awaiting: 'id:1', awaiting_also: 'checkout:x/2' })
      await storedCall(db, 'b', { ...ended, awaiting: 'provider:x/1', awaiting_also: 'id:no' })
      await storedCall(db, 'c', { ...ended, awaiting: 'checkout:x/5' })
      await storedCall(db, 'd', { ...ended, awaiting: 'subscription:x/4' })
      await storedCall(db, 'e', { ...ended, awaiting: 'checkout:x/3', awaiting_also: 'id:no' })
      assert.deepEqual(names(await requeueCallsWithPayment(db)), ['e'])
    }),
  )

  test(
    'a payment of another gateway has other ids, and a refund is no charge',
    rolledBack(async (db) => {
      await storedCall(db, 'a', { ...ended, awaiting: keys.checkout })
      await storedCall(db, 'b', { ...ended, awaiting: keys.charge })
      await charge(db, 'b', { ...references, gateway: 'y' })
      assert.deepEqual(await requeueCallsWithPayment(db), [])
    }),
  )

  test(
    'right after it was committed as waiting, one call is looked at alone',
    rolledBack(async (db) => {
      await charge(db, 'a')
      await storedCall(db, 'a', { ...ended, awaiting: keys.id })
      await storedCall(db, 'b', { ...ended, awaiting: keys.id })
      await storedCall(db, 'c', ended)
      assert.deepEqual(names(await requeueCallsWithPayment(db, idOf('b'))), ['b'])
      assert.deepEqual(await requeueCallsWithPayment(db, idOf('b')), [])
      assert.deepEqual(await requeueCallsWithPayment(db, idOf('c')), [])
      assert.deepEqual(names(await requeueCallsWithPayment(db)), ['a'])
    }),
  )

  const pages = async (db: Kysely<Tables>) => {
    const counted = counting(db)
    const sizes: number[] = []
    const seen = new Set<string>()
    for await (const calls of waitingCalls(counted.db)) {
      sizes.push(calls.length)
      for (const { id } of calls) seen.add(id)
    }
    assert.equal(
      seen.size,
      sizes.reduce((sum, size) => sum + size, 0),
    )
    return { sizes, statements: counted.statements() }
  }
  /** Keys of any spelling, several of them the same. */
  const wait = (db: Kysely<Tables>, first: number, last: number) =>
    sql`insert into billing.webhook_calls
        (id, gateway, queue, url, headers, kind, payload, state, awaiting)
      select gen_random_uuid(), 'x', 'default', '/', '{}', 'json', '{}', 'ignored',
        (number / 2)::text
      from generate_series(${first}::int, ${last}::int) as number`.execute(db)

  test(
    'calls that wait are read page by page, each of them once',
    rolledBack(async (db) => {
      await storedCall(db, 'a', ended)
      assert.deepEqual(await pages(db), { sizes: [], statements: 1 })
      await wait(db, 1, 999)
      assert.deepEqual(await pages(db), { sizes: [999], statements: 1 })
      await wait(db, 1_000, 1_000)
      assert.deepEqual(await pages(db), { sizes: [1_000], statements: 2 })
      await wait(db, 1_001, 1_001)
      assert.deepEqual(await pages(db), { sizes: [1_000, 1], statements: 2 })
    }),
  )
})
