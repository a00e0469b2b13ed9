import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { sql } from 'kysely'
import { takeDueSubscriptions } from '../../src/queue/due-subscriptions.ts'
import { lockLeasedStates, lockSubscriptionState } from '../../src/database/lock-subscriptions.ts'
import { findPeriod, listPeriods } from '../../src/database/subscription-periods.ts'
import { writeChange, type ChangeOrigin } from '../../src/database/subscription-changes.ts'
import {
  findSubscription,
  listSubscriptions,
  listSubscriptionTransitions,
} from '../../src/database/subscriptions.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { onBothDatabases } from '../support/databases.ts'
import { rollingBack } from '../support/rolled-back.ts'
import { changeOf, periodOf, subscriptionOf } from '../support/subscriptions.ts'

const gateways = { find: () => undefined }
const writing: ChangeOrigin = { newId: newUuid, cause: 'service', callId: null, queue: 'default' }
const creation = { content: '{}', writtenBy: newUuid() }
const at = (day: string) => new Date(`${day}T12:00:00Z`)

onBothDatabases((engine) => {
  suite('the rows of subscriptions', () => {
    const rolledBack = rollingBack(engine)

    test(
      'a change is read back as it was written, terms and history too',
      rolledBack(async (db) => {
        const made = subscriptionOf({
          nextTerms: {
            plan: null,
            amount: 9_007_199_254_740_991n,
            currency: 'USD',
            every: { unit: 'day', count: 3 },
            fromNumber: 2,
            quotas: {
              seats: { limit: 9_223_372_036_854_775_807n },
              all: { limit: null },
              old: null,
            },
          },
          dueQuotas: { calls: { limit: 7n, every: { unit: 'day', count: 1 }, percents: [80] } },
        })
        const period = periodOf(made, { kind: 'trial', number: 0 })
        const transition = { from: null, to: 'active', reason: 'created', periodId: null } as const
        const change = changeOf(made, { periods: [period], transition })
        await writeChange(db, change, { ...writing, creation })
        assert.deepEqual(await findSubscription(db, made.id), made)
        assert.deepEqual(await findPeriod(db, period.id), period)
        const history = await listSubscriptionTransitions(db, made.id)
        assert.deepEqual(
          history.map(({ from, to, reason, at: time }) => ({ from, to, reason, time })),
          [{ from: null, to: 'active', reason: 'created', time: made.updatedAt }],
        )
        const canceled = {
          ...made,
          status: 'canceled',
          endedAt: at('2026-03-02'),
          endReason: 'requested',
          nextTerms: null,
          dueQuotas: null,
          nextActionAt: null,
        } as const
        await writeChange(
          db,
          changeOf(canceled, { periods: [{ ...period, lastNotice: 2 }] }),
          writing,
        )
        assert.deepEqual(await findSubscription(db, made.id), canceled)
        assert.equal((await findPeriod(db, period.id))?.lastNotice, 2)
      }),
    )

    test(
      'a state has the open period, the last granted one and the highest number',
      rolledBack(async (db) => {
        const made = subscriptionOf()
        const granted = periodOf(made, { number: 1 })
        const gone = periodOf(made, { number: 2, state: 'void' })
        const open = periodOf(made, { number: 3, state: 'open' })
        const change = changeOf(made, { periods: [open, gone, granted] })
        await writeChange(db, change, { ...writing, creation })
        const state = await lockSubscriptionState(db, made.id, gateways)
        assert.deepEqual(state, {
          subscription: made,
          open,
          current: granted,
          lastNumber: 3,
          live: null,
          isCardUsable: false,
        })
        const { data } = await listPeriods(db, { subscriptionId: made.id, limit: 2 })
        assert.deepEqual(
          data.map(({ number }) => number),
          [3, 2],
        )
      }),
    )

    test(
      'a period closes before the next one opens in the same change',
      rolledBack(async (db) => {
        const made = subscriptionOf()
        const open = periodOf(made, { number: 1, state: 'open' })
        await writeChange(db, changeOf(made, { periods: [open] }), { ...writing, creation })
        const next = periodOf(made, { number: 2, state: 'open' })
        const change = changeOf(made, { periods: [next, { ...open, state: 'void' }] })
        await writeChange(db, change, writing)
        assert.equal((await lockSubscriptionState(db, made.id, gateways))?.open?.number, 2)
      }),
    )

    test(
      'what never goes back is kept by SQL: an end, paid time, a granted period, its payment',
      rolledBack(async (db) => {
        const ended = {
          status: 'canceled',
          endedAt: at('2026-03-09'),
          endReason: 'requested',
        } as const
        const made = subscriptionOf({ eventNumber: 3 })
        const paid = periodOf(made, {
          state: 'paid',
          paidPaymentId: newUuid(),
          paidAt: at('2026-03-01'),
        })
        const gone = periodOf(made, { number: 2, state: 'void' })
        const change = changeOf(made, { periods: [paid, gone] })
        await writeChange(db, change, { ...writing, creation })
        const refuses = async (stale: ReturnType<typeof changeOf>) => {
          await sql`savepoint stale`.execute(db)
          await assert.rejects(
            writeChange(db, stale, writing),
            /is out of date, and was not written/,
          )
          await sql`rollback to savepoint stale`.execute(db)
        }
        await refuses(changeOf({ ...made, paidUntil: at('2026-03-31') }))
        await refuses(changeOf({ ...made, paidUntil: null }))
        await refuses(changeOf({ ...made, eventNumber: 2 }))
        const open = { state: 'open', paidPaymentId: null, paidAt: null } as const
        await refuses(changeOf(made, { periods: [{ ...paid, ...open }] }))
        await refuses(changeOf(made, { periods: [{ ...paid, paidPaymentId: newUuid() }] }))
        await refuses(changeOf(made, { periods: [{ ...gone, ...open }] }))
        await writeChange(db, changeOf({ ...made, ...ended }), writing)
        await refuses(changeOf(made))
        await writeChange(db, changeOf({ ...made, ...ended, eventNumber: 4 }), writing)
        assert.deepEqual(await findPeriod(db, paid.id), paid)
      }),
    )

    test(
      'what is due is taken by one, and whoever changes it ends the lease',
      rolledBack(async (db) => {
        const made = subscriptionOf()
        await writeChange(db, changeOf(made), { ...writing, creation })
        const take = (now: Date, except: readonly string[] = []) =>
          takeDueSubscriptions(db, {
            managedBy: 'local',
            now,
            ours: new Date(),
            limit: 5,
            token: newUuid(),
            except,
          })
        assert.deepEqual(await take(at('2026-03-31')), [])
        assert.deepEqual(await take(at('2026-04-02'), ['scripted']), [])
        const [lease] = await take(at('2026-04-02'))
        assert.ok(lease)
        assert.equal(lease.id, made.id)
        assert.deepEqual(await take(at('2026-04-02')), [])
        assert.ok((await lockLeasedStates(db, [lease], gateways)).get(made.id))
        await writeChange(db, changeOf(made), writing)
        assert.equal((await lockLeasedStates(db, [lease], gateways)).size, 0)
        assert.equal((await take(at('2026-04-02'))).length, 1)
        await sql`update billing.subscriptions set lease_until = statement_timestamp()
          - interval '1 second'`.execute(db)
        assert.equal((await take(at('2026-04-02'))).length, 1)
      }),
    )

    test(
      'subscriptions are listed by payable, status and gateway, newest first',
      rolledBack(async (db) => {
        const older = subscriptionOf({ createdAt: at('2026-01-01') })
        const newer = subscriptionOf({ id: newUuid(), createdAt: at('2026-02-01') })
        const other = subscriptionOf({ id: newUuid(), payable: { type: 'account', id: '7' } })
        for (const one of [older, newer, other]) {
          await writeChange(db, changeOf(one), { ...writing, creation })
        }
        const query = { payable: older.payable, status: 'active', gateway: 'scripted' } as const
        const first = await listSubscriptions(db, { ...query, limit: 1 })
        assert.deepEqual(first.data, [newer])
        assert.ok(first.nextCursor)
        const second = await listSubscriptions(db, { ...query, cursor: first.nextCursor })
        assert.deepEqual(second, { data: [older], nextCursor: null })
        assert.deepEqual((await listSubscriptions(db, { status: 'paused' })).data, [])
      }),
    )
  })
})
