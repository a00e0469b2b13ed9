import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import type { EventType } from '../../../src/events/catalogue.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { claimEvents, type SourceClaims } from '../../../src/listeners/claim-events.ts'
import { createListenerRegistry } from '../../../src/listeners/listeners.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { findPaymentMethod } from '../../../src/database/payment-methods.ts'
import { findPayment } from '../../../src/database/payments.ts'
import { onPostgres } from '../../support/databases.ts'
import { rollingBack } from '../../support/rolled-back.ts'

onPostgres((engine) => {
  const rolled = rollingBack(engine)

  const insertPayment = async (db: Kysely<Tables>): Promise<Payment> => {
    const row = { gateway: 'fake', amount: 1n, currency: 'USD', payable_type: 'a', payable_id: 'b' }
    const id = newUuid()
    await db
      .insertInto('billing.payments')
      .values({ id, ...row })
      .execute()
    return (await findPayment(db, id)) ?? assert.fail()
  }
  /** A claim under this key. */
  const claimOf = (
    payment: Payment,
    dedupKey: string,
    options: { type?: EventType; queue?: string; superseded?: boolean } = {},
  ): SourceClaims => {
    const { type = 'PaymentSucceeded', queue = 'default', superseded = false } = options
    return {
      claims: [{ eventId: newUuid(), dedupKey, type, subject: { payment }, superseded }],
      source: { cause: 'poll', callId: null, queue },
    }
  }
  /** The events that are won, in the order of their claims. */
  const claim = async (db: Kysely<Tables>, sources: readonly SourceClaims[]) => {
    const listeners = createListenerRegistry()
    return [...(await claimEvents(db, sources, { listeners, guard: undefined })).values()]
  }
  const keysOf = (events: readonly { readonly dedupKey: string }[]) =>
    events.map(({ dedupKey }) => dedupKey)
  const newcomer = async (db: Kysely<Tables>) => {
    const listener = { name: 'newcomer', queued: false }
    await db
      .insertInto('billing.listeners')
      .values({ ...listener, event_types: ['PaymentRefunded', 'PaymentFailed'] })
      .execute()
  }

  test(
    'claims are taken in the order of their keys; those taken before are not won',
    rolled(async (db) => {
      const payment = await insertPayment(db)
      const of = (key: string) => claimOf(payment, key)
      const won = await claim(db, [of('c'), of('a')])
      assert.deepEqual(keysOf(won), ['a', 'c'])
      const more = await claim(db, [of('d'), of('c'), of('b')])
      assert.deepEqual(keysOf(more), ['b', 'd'])
      const ids = await sql<{ dedup_key: string }>`
        select dedup_key from billing.events order by ctid`.execute(db)
      assert.deepEqual(
        ids.rows.map(({ dedup_key }) => dedup_key),
        ['a', 'c', 'b', 'd'],
      )
    }),
  )

  test(
    'those of one source go with those of the others',
    rolled(async (db) => {
      const payment = await insertPayment(db)
      const [one, other] = [claimOf(payment, 'b'), claimOf(payment, 'c')]
      const both = { ...one, claims: [...other.claims, ...one.claims] }
      const won = await claim(db, [both, claimOf(payment, 'a')])
      assert.deepEqual(keysOf(won), ['a', 'b', 'c'])
    }),
  )

  test(
    'the same key twice is won once, by the first',
    rolled(async (db) => {
      const payment = await insertPayment(db)
      const claims = [claimOf(payment, 'a'), claimOf(payment, 'a')]
      const won = await claim(db, claims)
      assert.deepEqual(
        won.map(({ id }) => id),
        [claims[0]?.claims[0]?.eventId],
      )
    }),
  )

  test(
    'an event is what its claim says, at the time of the claim',
    rolled(async (db) => {
      const payment = await insertPayment(db)
      const plain = claimOf(payment, 'a')
      const late = claimOf(payment, 'b', { type: 'PaymentFailed', superseded: true })
      const [one, other] = await claim(db, [plain, late])
      const { createdAt, ...rest } = one ?? assert.fail()
      assert.deepEqual(rest, {
        id: plain.claims[0]?.eventId,
        type: 'PaymentSucceeded',
        dedupKey: 'a',
        superseded: false,
        payment,
      })
      const rows = await db.selectFrom('billing.events').selectAll().orderBy('dedup_key').execute()
      assert.deepEqual(createdAt, rows[0]?.created_at)
      assert.equal(other?.superseded, true)
      assert.deepEqual(
        rows.map(({ data: _data, created_at: _at, ...row }) => row),
        [plain, late]
          .flatMap(({ claims }) => claims)
          .map((claim) => ({
            id: claim.eventId,
            dedup_key: claim.dedupKey,
            type: claim.type,
            payment_id: payment.id,
            payment_method_id: null,
            subscription_id: null,
            invoice_id: null,
            position: null,
            webhook_call_id: null,
            source: 'poll',
            superseded: claim.superseded,
          })),
      )
    }),
  )

  test(
    'a claim that says nothing of it is not superseded; one of a card is of the card',
    rolled(async (db) => {
      const payment = await insertPayment(db)
      const id = newUuid()
      await db
        .insertInto('billing.payment_methods')
        .values({
          id,
          gateway: 'fake',
          status: 'attached',
          provider_reference: 'pm',
          payment_id: payment.id,
        })
        .execute()
      const paymentMethod = (await findPaymentMethod(db, id)) ?? assert.fail()
      const callId = newUuid()
      const ofCard = {
        claims: [
          {
            eventId: newUuid(),
            dedupKey: 'a',
            type: 'PaymentMethodAttached',
            subject: { paymentMethod },
          },
        ],
        source: { cause: 'call', callId, queue: 'default' },
      } as const
      const [event] = await claim(db, [ofCard])
      assert.equal(event?.superseded, false)
      const row = await db.selectFrom('billing.events').selectAll().executeTakeFirstOrThrow()
      assert.deepEqual(
        [row.payment_id, row.payment_method_id, row.webhook_call_id, row.superseded, row.source],
        [payment.id, id, callId, false, 'call'],
      )
    }),
  )

  describe('where another process has a listener that this one lacks', () => {
    test(
      'nothing is claimed, and the listeners are named in their order',
      rolled(async (db) => {
        const payment = await insertPayment(db)
        await newcomer(db)
        const names = 'newcomer (PaymentFailed), newcomer (PaymentRefunded)'
        await assert.rejects(claim(db, [claimOf(payment, 'a')]), {
          code: 'listener_missing',
          message: `this process lacks the listener(s) ${names}: events that it claims would never reach them`,
        })
        assert.deepEqual(await db.selectFrom('billing.events').selectAll().execute(), [])
      }),
    )

    test(
      'nothing to claim needs no listener',
      rolled(async (db) => {
        await newcomer(db)
        assert.deepEqual(await claim(db, []), [])
        const { source } = claimOf(await insertPayment(db), 'a')
        assert.deepEqual(await claim(db, [{ source, claims: [] }]), [])
      }),
    )
  })
})
