import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Insertable } from 'kysely'
import type { SubscriptionsTable } from '../../../src/database/subscription-tables.ts'
import { databaseNow } from '../../../src/database/now.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { outboxEvents, type LeasedEvent } from '../../../src/queue/deferred-events.ts'
import { takeRows } from '../../../src/leases/queue-rows.ts'
import type { PlannedEvent } from '../../../src/subscriptions/events.ts'
import { onPostgres } from '../../support/databases.ts'
import {
  fire,
  insertPeriod,
  insertSubscription,
  type FiredBy,
} from '../../support/subscription-rows.ts'
import {
  call,
  callRow,
  deferredRow,
  deliveries,
  deliveryRow,
  events,
  lineOf,
  logged,
  newcomer,
  notes,
  payment,
  useRoom,
} from './room.ts'

onPostgres(() => {
  const room = useRoom()

  const taken = async (): Promise<readonly LeasedEvent[]> =>
    takeRows(room.db, outboxEvents, {
      limit: 10,
      token: newUuid(),
      alone: false,
      listeners: room.listeners.keys(),
    })
  /** An event of a subscription that is ours to dispatch. */
  const fired = async (id: string, planned: PlannedEvent, by?: Omit<FiredBy, 'subscriptionId'>) => {
    await room.database.transaction(({ db }) => fire(db, { ...by, subscriptionId: id }, [planned]))
    const [leased = assert.fail('nothing was taken'), ...others] = await taken()
    assert.deepEqual(others, [])
    return leased
  }
  const subscription = (fields: Partial<Insertable<SubscriptionsTable>> = {}) =>
    insertSubscription(room.db, { gateway: 'stating', ...fields })
  const stateOf = async (leased: LeasedEvent) => {
    const { state, attempts } = await deferredRow(room, leased)
    return `${state} ${attempts}`
  }
  const renewed = async (paidFor: Parameters<typeof payment>[1] = {}) => {
    const id = await subscription()
    const paid = await payment(room, { status: 'paid', ...paidFor })
    const periodId = await insertPeriod(room.db, id, { amount: 9_900n, paid_payment_id: paid.id })
    const data = { periodId, paymentId: paid.id, previousStatus: 'past_due', skippedPeriods: 2 }
    return { id, paid, periodId, planned: { type: 'SubscriptionRenewed', data } as PlannedEvent }
  }
  const suspended = (periodId: string): PlannedEvent => ({
    type: 'SubscriptionAccessSuspended',
    data: { periodId },
  })

  describe('an event of a subscription', () => {
    test('carries what it stored, and its subjects as they stand; nothing is locked', async () => {
      const { id, paid, periodId, planned } = await renewed()
      const leased = await fired(id, planned)
      const seen: unknown[] = []
      room.on('SubscriptionRenewed', async (event, { tx, idempotencyKey }) => {
        seen.push(event.id, event.subscription.id, event.subscription.status)
        seen.push(event.period.id, event.period.amount, event.payment?.id)
        seen.push(event.previousStatus, event.skippedPeriods, idempotencyKey)
        const json = JSON.parse(JSON.stringify(event)) as Record<string, Record<string, unknown>>
        seen.push(json['subscription']?.['managed_by'], json['period']?.['amount'])
        await tx.query(`insert into notes (author, about) values ('listener', 'heard')`)
        for (const table of ['payments', 'subscriptions', 'subscription_periods']) {
          await room.database.pool.query(`select from billing.${table} for no key update nowait`)
        }
      })
      // Between the change and its listener.
      await room.db.updateTable('billing.subscriptions').set({ status: 'paused' }).execute()
      await room.dispatch(leased)
      const key = leased.dedup_key ?? ''
      assert.deepEqual(seen, [
        leased.id,
        id,
        'paused',
        periodId,
        9_900n,
        paid.id,
        'past_due',
        2,
        `${key}/listener`,
        'local',
        9900,
      ])
      assert.deepEqual(await notes(room), ['listener heard'])
      assert.equal(await stateOf(leased), 'processed 0')
      const [event] = await events(room)
      assert.deepEqual(
        [event?.id, event?.dedup_key, event?.source, event?.subscription_id, event?.payment_id],
        [leased.id, key, 'poll', id, paid.id],
      )
      assert.deepEqual(JSON.parse(event?.data ?? ''), {
        period_id: periodId,
        payment_id: paid.id,
        previous_status: 'past_due',
        skipped_periods: 2,
      })
      assert.deepEqual(lineOf(room, 'SubscriptionRenewed'), { subscription: id })
      // The next one of the subscription may wait for it.
      assert.deepEqual(room.woken, ['workers'])
    })

    test('says whether there is access now, whatever its name says', async () => {
      const id = await subscription({ status: 'past_due', suspended_at: new Date() })
      const leased = await fired(id, suspended(await insertPeriod(room.db, id)))
      const seen: boolean[] = []
      room.on('SubscriptionAccessSuspended', (event) => void seen.push(event.subscription.access))
      // It was paid meanwhile.
      const paid = { status: 'active', suspended_at: null } as const
      await room.db.updateTable('billing.subscriptions').set(paid).execute()
      await room.dispatch(leased)
      assert.deepEqual(seen, [true])
    })

    test('says whether any subscription of the payable gives access, and as of when', async () => {
      const over = { status: 'canceled', end_reason: 'requested', ended_at: new Date() } as const
      const cancelled = {
        type: 'SubscriptionCancelled',
        data: { previousStatus: 'active', reason: 'requested' },
      } as const
      const seen: unknown[] = []
      const times: Date[] = []
      room.on('SubscriptionCancelled', ({ subscription: { access, payableAccess, asOf } }) => {
        seen.push([access, payableAccess])
        times.push(asOf)
      })
      const old = await subscription(over)
      await room.dispatch(await fired(old, cancelled))
      await subscription({ payable_id: '8' })
      await subscription({ payable_type: 'order' })
      await subscription({ status: 'paused' })
      await room.dispatch(await fired(old, cancelled))
      await subscription()
      const before = await databaseNow(room.db)
      await room.dispatch(await fired(old, cancelled))
      const answers = [
        [false, false],
        [false, false],
        [false, true],
      ]
      assert.deepEqual(seen, answers)
      const last = times.at(-1) ?? new Date(0)
      assert.ok(before <= last && last <= (await databaseNow(room.db)))
    })

    test('says how it stood then or later, never earlier: of two, the later one holds', async () => {
      const id = await subscription({ status: 'paused' })
      let seen: unknown
      room.on('SubscriptionResumed', ({ subscription: { asOf, status, payableAccess } }) => {
        seen = [asOf, status, payableAccess]
      })
      const leased = await fired(id, { type: 'SubscriptionResumed', data: {} })
      const time = new Date('2026-12-01T00:00:00.000Z')
      const subscriptionTime = async () => {
        // What changes now belongs to it.
        await room.db.updateTable('billing.subscriptions').set({ status: 'active' }).execute()
        return time
      }
      room.give({ subscriptionTime })
      await room.dispatch(leased)
      assert.deepEqual(seen, [time, 'active', true])
    })

    test('a trial with a usable card has access beyond its end, without one it ends on time', async () => {
      const seen: boolean[] = []
      room.on('TrialEnded', (event) => void seen.push(event.subscription.access))
      const over = { status: 'trialing', trial_ends_at: new Date(Date.now() - 1000) } as const
      const cardId = newUuid()
      const card = {
        id: cardId,
        gateway: 'stating',
        provider_reference: 'pm_1',
        token: Buffer.from('t'),
      }
      await room.db
        .insertInto('billing.payment_methods')
        .values({ ...card, status: 'attached' })
        .execute()
      const ended = { type: 'TrialEnded', data: { converts: true } } as const
      await room.dispatch(await fired(await subscription(over), ended))
      const withCard = await subscription({ ...over, payment_method_id: cardId })
      await room.dispatch(await fired(withCard, ended))
      await room.db
        .updateTable('billing.payment_methods')
        .set({ status: 'detached', token: null })
        .execute()
      await room.dispatch(await fired(withCard, ended))
      assert.deepEqual(seen, [false, true, false])
    })

    test('of a failed charge leads to where its period can be paid, as long as it is owed', async () => {
      const urls: unknown[] = []
      room.on('SubscriptionPaymentFailed', (event) => {
        urls.push(event.payUrl, event.nextAttemptAt, event.payment)
      })
      const id = await subscription({ status: 'past_due' })
      const periodId = await insertPeriod(room.db, id, { state: 'open' })
      const nextAttemptAt = new Date('2026-12-01T00:00:00.000Z')
      const failed = {
        type: 'SubscriptionPaymentFailed',
        data: { periodId, paymentId: null, attempt: 1, nextAttemptAt, needs: 'new_card' },
      } as const
      await room.dispatch(await fired(id, failed))
      await room.db.updateTable('billing.subscription_periods').set({ state: 'void' }).execute()
      await room.dispatch(await fired(id, failed))
      const page = `https://pay.example/billing/subscriptions/${id}/pay`
      assert.deepEqual(urls, [page, nextAttemptAt, null, null, nextAttemptAt, null])
    })

    test('each other type carries what it stored', async () => {
      const id = await subscription()
      const periodId = await insertPeriod(room.db, id)
      const at = new Date('2026-12-01T00:00:00.000Z')
      const planned: readonly PlannedEvent[] = [
        { type: 'SubscriptionCancelled', data: { previousStatus: 'active', reason: 'requested' } },
        { type: 'SubscriptionPaused', data: { reason: 'requested', resumesAt: at } },
        { type: 'SubscriptionResumed', data: {} },
        { type: 'TrialWillEnd', data: { endsAt: at, renews: true, notice: 1 } },
        {
          type: 'SubscriptionPeriodEnding',
          data: { periodId, endsAt: at, renews: false, notice: 2 },
        },
      ]
      const seen: unknown[] = []
      const types = planned.map(({ type }) => type)
      room.on(types, (event) => {
        const { id: _id, dedupKey: _key, createdAt: _at, superseded, ...rest } = event
        const { subscription: about, ...carried } = { ...rest, subscription: event.subscription.id }
        assert.deepEqual([about, superseded], [id, false])
        seen.push('period' in carried ? { ...carried, period: carried.period.id } : carried)
      })
      for (const one of planned) await room.dispatch(await fired(id, one))
      const [cancelled, paused, resumed, trial, ending] = seen
      assert.deepEqual(cancelled, {
        type: 'SubscriptionCancelled',
        previousStatus: 'active',
        reason: 'requested',
      })
      assert.deepEqual(paused, { type: 'SubscriptionPaused', reason: 'requested', resumesAt: at })
      assert.deepEqual(resumed, { type: 'SubscriptionResumed' })
      assert.deepEqual(trial, { type: 'TrialWillEnd', endsAt: at, renews: true, notice: 1 })
      const notice = { renews: false, notice: 2, period: periodId }
      assert.deepEqual(ending, { type: 'SubscriptionPeriodEnding', ...notice })
    })

    test('reaches queued listeners with the same, as it stands when they run', async () => {
      const { id, paid, periodId, planned } = await renewed()
      const seen: unknown[] = []
      room.onQueued('SubscriptionRenewed', (event) => {
        seen.push(event.subscription.status, event.period.id, event.payment?.id)
        seen.push(event.previousStatus, event.skippedPeriods)
      })
      const leased = await fired(id, planned, { queue: 'reports' })
      await room.dispatch(leased)
      await room.db
        .updateTable('billing.subscriptions')
        .set({ status: 'canceled', ended_at: new Date(), end_reason: 'requested' })
        .execute()
      const [due = assert.fail()] = await deliveries(room)
      assert.deepEqual([due.queue, due.state], ['reports', 'pending'])
      await room.deliver({ ...due, token: await held(due.id) })
      assert.deepEqual(seen, ['canceled', periodId, paid.id, 'past_due', 2])
    })

    test('that cannot be read fails by itself; other deliveries beside it do not', async () => {
      const id = await subscription()
      const planned = {
        type: 'SubscriptionPaused',
        data: { reason: 'requested', resumesAt: null },
      } as const
      let runs = 0
      room.onQueued('SubscriptionPaused', () => void (runs += 1))
      for (const _ of [1, 2]) await room.dispatch(await fired(id, planned))
      const [broken] = await events(room)
      await room.db
        .updateTable('billing.events')
        .set({ data: '{"reason":"requested","resumes_at":7}' })
        .where('id', '=', broken?.id ?? '')
        .execute()
      const due = await deliveries(room)
      await Promise.all(due.map(async (one) => room.deliver({ ...one, token: await held(one.id) })))
      const ends = await Promise.all(due.map((one) => deliveryRow(room, one)))
      assert.equal(runs, 1)
      const shown = ends.map(({ event_id: event, state, attempts }) =>
        [event === broken?.id ? 'broken' : 'whole', state, attempts].join(' '),
      )
      assert.deepEqual(shown.toSorted(), ['broken pending 1', 'whole processed 0'])

      await room.db.updateTable('billing.subscriptions').set({ status: 'active' }).execute()
      const leased = await fired(id, planned)
      await room.dispatch({ ...leased, data: '{"reason":"requested"}' })
      assert.equal(await stateOf(leased), 'pending 1')
      assert.match((await deferredRow(room, leased)).exception ?? '', /resumes_at/)
    })

    test('whose listener throws waits for its next attempt; the transaction leaves nothing', async () => {
      const id = await subscription()
      room.on('SubscriptionResumed', async (_event, { tx }) => {
        await tx.query(`insert into notes (author, about) values ('listener', 'heard')`)
        throw new Error('no stock')
      })
      const leased = await fired(id, { type: 'SubscriptionResumed', data: {} })
      await room.dispatch(leased)
      assert.equal(await stateOf(leased), 'pending 1')
      assert.deepEqual([await notes(room), await events(room)], [[], []])
      assert.deepEqual(logged(room), ['warn delivery failed, will be retried'])
    })

    test('is released where a listener is missing, and is taken by nobody who lacks it', async () => {
      const id = await subscription()
      const leased = await fired(id, { type: 'SubscriptionResumed', data: {} })
      await newcomer(room, 'SubscriptionResumed')
      await room.dispatch(leased)
      assert.equal(await stateOf(leased), 'pending 0')
      assert.deepEqual(await taken(), [])
    })

    test('that a call led to is the claim of that call', async () => {
      const { id, planned } = await renewed()
      const stored = await call(room, [], { dedup_claims: '["payment:paid:1"]' })
      const leased = await fired(id, planned, { cause: 'call', callId: stored.id })
      await room.dispatch(leased)
      const [event] = await events(room)
      assert.deepEqual([event?.webhook_call_id, event?.source], [stored.id, 'call'])
      const claims = JSON.parse((await callRow(room, stored)).dedup_claims ?? 'null') as unknown
      assert.deepEqual(claims, ['payment:paid:1', leased.dedup_key])
    })

    test('fires once: a second row of its key would find it claimed', async () => {
      const id = await subscription()
      let runs = 0
      room.on('SubscriptionResumed', () => void (runs += 1))
      const leased = await fired(id, { type: 'SubscriptionResumed', data: {} })
      await room.dispatch(leased)
      await room.db.deleteFrom('billing.deferred_events').execute()
      await room.db.updateTable('billing.subscriptions').set({ event_number: 0 }).execute()
      const again = await fired(id, { type: 'SubscriptionResumed', data: {} })
      assert.equal(again.dedup_key, leased.dedup_key)
      await room.dispatch(again)
      assert.equal(runs, 1)
      assert.equal(await stateOf(again), 'processed 0')
    })
  })

  /** The delivery to a queued listener is ours. */
  async function held(id: string): Promise<string> {
    const token = newUuid()
    const lease = { state: 'processing' as const, lease_token: token, lease_until: new Date() }
    await room.db.updateTable('billing.deliveries').set(lease).where('id', '=', id).execute()
    return token
  }
})
