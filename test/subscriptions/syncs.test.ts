import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { takeDueSubscriptions, takeSync } from '../../src/queue/due-subscriptions.ts'
import { hours, minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { createSubscription } from '../../src/money/create-subscription.ts'
import { syncLeased, syncSubscription } from '../../src/money/sync-subscription.ts'
import { readReadiness } from '../../src/health/readiness.ts'
import { runDueSyncs } from '../../src/upkeep/run-syncs.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { until } from '../support/until.ts'
import {
  begins,
  begun,
  monthFrom,
  openManaging,
  renews,
  changed,
  statementOf,
  type Managing,
} from './managing.ts'
import { newSubscription } from './subscribing.ts'

/** One that was made here, to be begun on its page. */
async function made(at: Managing) {
  const input = newSubscription({ managedBy: 'provider', gateway: 'managing' })
  const { subscription, payment } = await createSubscription(input, '{}', at.context)
  assert.ok(payment)
  assert.equal(subscription.status, 'incomplete')
  return { subscription, payment }
}

onAnyDatabase((engine) => {
  let at: Managing
  before(async () => {
    at = await openManaging(engine)
  })
  after(() => at.billing.close())
  beforeEach(() => at.reset())

  test('a change during the fetch makes it due again (case 42)', async () => {
    await begun(at, 'sub_1')
    const start = at.clock.now
    const old = statementOf('sub_1', start)
    const cancelAt = monthFrom(start).endsAt
    const read = at.script.read
    at.provider.asked.length = 0
    at.script.read = async (request) => {
      at.script.read = read
      at.provider.asked.push(request.reference)
      at.provider.stated.set('sub_1', statementOf('sub_1', start, { cancelAt }))
      await at.say(changed('sub_1'))
      return { statement: old, outcomes: [] }
    }
    await at.say(changed('sub_1'))
    assert.equal(await at.run(), 2)
    assert.deepEqual((await at.state('sub_1')).cancelAt, cancelAt)
    assert.deepEqual(at.provider.asked, ['sub_1', 'sub_1'])
    assert.equal(await at.run(), 0)
  })

  test('whoever has lost the lease applies nothing of the statement, and each charge once (case 43)', async () => {
    await begun(at, 'sub_1')
    const { db } = at.billing.database
    const start = at.clock.now
    const paused = statementOf('sub_1', start, { status: 'paused', currentPeriod: null })
    const second = monthFrom(monthFrom(start).endsAt)
    const paid = renews('sub_1', 'ch_2', { period: second })
    const read = at.script.read
    at.script.read = async () => {
      at.script.read = read
      // The process was asleep for so long that another one has asked since.
      await sql`update billing.subscriptions set lease_until = lease_until - interval '1 hour'`.execute(
        db,
      )
      assert.equal(await at.run(), 1)
      return { statement: paused, outcomes: [paid] }
    }
    await at.say(changed('sub_1'))
    const asked = { now: at.clock.now, ours: new Date(), limit: 1, token: newUuid(), except: [] }
    const [lease] = await takeDueSubscriptions(db, { ...asked, managedBy: 'provider' })
    assert.ok(lease)
    assert.deepEqual(await syncLeased(lease, at.context), { kind: 'lost' })
    assert.equal((await at.state('sub_1')).status, 'active')
    // A charge is a fact, whoever tells of it, and is granted once.
    assert.equal((await at.payment('ch_2')).status, 'paid')
    await at.say(paid)
    assert.deepEqual((await at.state('sub_1')).paidUntil, second.endsAt)
    assert.deepEqual(await at.events('sub_1'), [
      'SubscriptionCreated',
      'SubscriptionRenewed',
      'SubscriptionRenewed',
    ])
  })

  test('a grant while its provider is asked ends no lease and forgets no change', async () => {
    await begun(at, 'sub_1')
    const { endsAt } = monthFrom(at.clock.now)
    const read = at.script.read
    at.script.read = async () => {
      at.script.read = read
      await at.say(renews('sub_1', 'ch_2', { period: monthFrom(endsAt) }))
      return { statement: statementOf('sub_1', endsAt, { status: 'past_due' }), outcomes: [] }
    }
    await at.say(changed('sub_1'))
    await at.run()
    const state = await at.state('sub_1')
    assert.deepEqual([state.status, state.paidUntil], ['active', monthFrom(endsAt).endsAt])
    assert.ok(!(await at.events('sub_1')).includes('SubscriptionPaymentFailed'))
  })

  test('without a key nothing is made, and what is there is postponed, not lost (case 49)', async (t) => {
    const keyless = await openManaging(engine, {
      gateway: {
        apiCredential: 'key',
        credentials: {
          word: {
            env: ['STATING_WORD'],
            secret: false,
            required: true,
            default: 'yes',
            description: 'What the header says.',
          },
          key: { env: ['MANAGING_KEY'], secret: true, required: false, description: 'A key.' },
        },
      },
    })
    t.after(() => keyless.billing.close())
    const unseen = await keyless.create()
    assert.deepEqual(await keyless.say(changed('sub_1', unseen)), ['unhandled_event'])
    assert.deepEqual(await keyless.say(begins(unseen, 'sub_1')), ['payment:paid'])
    assert.equal(await keyless.find('sub_1'), undefined)

    await begun(at, 'sub_1')
    const read = at.script.read
    at.script.read = async () => {
      throw new QuittanceError('gateway_not_configured', 'managing needs MANAGING_KEY')
    }
    await at.say(changed('sub_1'))
    assert.equal(await at.run(), 1)
    const waiting = await at.state('sub_1')
    assert.match(waiting.actionError ?? '', /MANAGING_KEY/)
    assert.deepEqual(waiting.nextActionAt, new Date(at.clock.now.getTime() + minutes(15)))
    assert.deepEqual(
      (await at.billing.core.subscriptions.due({ until: waiting.nextActionAt })).map(
        ({ id }) => id,
      ),
      [waiting.id],
    )
    await assert.rejects(syncSubscription(waiting.id, at.context), {
      code: 'gateway_not_configured',
    })
    // The key is back.
    at.script.read = read
    at.pass(minutes(15))
    assert.equal(await at.run(), 1)
    assert.equal((await at.state('sub_1')).actionError, null)
    // Nobody asks any more: monitoring says so.
    await sql`update billing.subscriptions set next_action_at = statement_timestamp() - interval '1 hour',
      lease_token = ${newUuid()}::uuid, lease_until = statement_timestamp() + interval '1 hour'`.execute(
      at.billing.database.db,
    )
    const { warnings } = await readReadiness(at.billing.database, [])
    assert.match(warnings.join(), /a subscription has been due for 1 h/)
  })

  test('a provider that leaves three in a row without an answer is asked for no more for a while', async () => {
    const names = ['sub_1', 'sub_2', 'sub_3', 'sub_4', 'sub_5']
    for (const name of names) await begun(at, name)
    at.provider.asked.length = 0
    at.script.read = async ({ reference }) => {
      at.provider.asked.push(reference)
      throw new QuittanceError('provider_unreachable', 'no answer')
    }
    for (const name of names) await at.say(changed(name))
    const { steps } = await runDueSyncs(at.context, { lanes: 1 })
    assert.deepEqual([steps, at.provider.asked.length], [3, 3])
  })

  test('what has changed, or has just begun, does not wait for all that are due', async () => {
    const { db } = at.billing.database
    await begun(at, 'sub_1')
    await begun(at, 'sub_2')
    await sql`update billing.subscriptions
      set next_action_at = ${at.clock.now}::timestamptz - interval '1 hour'`.execute(db)
    await sql`insert into billing.subscriptions (id, managed_by, gateway, provider_reference, status,
        payable_type, payable_id, amount, currency, every_unit, every_count, time_zone, anchor_at,
        anchor_number, grace_access, next_action_at, created_at, updated_at)
      select gen_random_uuid(), 'provider', 'managing', 'due_' || n, 'active', 'account', n::text,
        4999, 'USD', 'month', 1, 'UTC', now(), 0, true,
        ${at.clock.now}::timestamptz - interval '50 minutes', now(), now()
      from generate_series(1, 100) as n`.execute(db)
    await at.say(changed('sub_2'))
    const payment = await at.create()
    at.provider.stated.set('sub_3', statementOf('sub_3', at.clock.now))
    await at.say(begins(payment, 'sub_3'))
    at.provider.asked.length = 0
    const { read } = at.script
    const over = new AbortController()
    at.script.read = async (...asked) => {
      if (at.provider.asked.length === 3) over.abort()
      return read?.(...asked)
    }
    await runDueSyncs(at.context, { lanes: 1, signal: over.signal })
    const { asked } = at.provider
    // Which of the two is first hangs on which of them rang last.
    for (const one of ['sub_2', 'sub_3']) assert.ok(asked.slice(0, 3).includes(one), String(asked))
    assert.ok(asked.slice(0, 4).includes('sub_1'), String(asked))
  })

  test('an operator has it asked at once, and waits for whoever is asking', async () => {
    await begun(at, 'sub_1')
    const { db } = at.billing.database
    const { id } = await at.state('sub_1')
    const cancelAt = monthFrom(at.clock.now).endsAt
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now, { cancelAt }))
    assert.deepEqual((await syncSubscription(id, at.context)).cancelAt, cancelAt)
    await takeSync(db, id, newUuid())
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now))
    const syncing = syncSubscription(id, at.context)
    await sql`update billing.subscriptions set lease_token = null, lease_until = null`.execute(db)
    assert.equal((await syncing).cancelAt, null)
    await takeSync(db, id, newUuid())
    await assert.rejects(syncSubscription(id, { ...at.context, answerWithin: -5_000 }), {
      code: 'renewal_under_way',
    })
    await assert.rejects(syncSubscription(newUuid(), at.context), {
      code: 'subscription_not_found',
    })
    const { subscription } = await createSubscription(
      newSubscription({ gateway: 'managing' }),
      '{}',
      at.context,
    )
    await assert.rejects(syncSubscription(subscription.id, at.context), {
      code: 'subscription_invalid',
    })
  })

  test('a provider that knows nothing of it, or answers about another, changes nothing', async () => {
    await begun(at, 'sub_1')
    const { id } = await at.state('sub_1')
    at.provider.stated.delete('sub_1')
    await assert.rejects(syncSubscription(id, at.context), { code: 'provider_reply_invalid' })
    at.script.read = async () => ({
      statement: statementOf('sub_2', at.clock.now, { status: 'canceled' }),
      outcomes: [],
    })
    await assert.rejects(syncSubscription(id, at.context), { code: 'provider_reply_invalid' })
    const state = await at.state('sub_1')
    assert.equal(state.status, 'active')
    assert.match(state.actionError ?? '', /another subscription/)
  })

  test('one that was made here is linked by its first payment, and keeps its terms', async () => {
    const { subscription, payment } = await made(at)
    const period = monthFrom(new Date(at.clock.now.getTime() + minutes(3)))
    at.provider.stated.set('sub_1', statementOf('sub_1', period.startsAt))
    await at.say(begins(payment, 'sub_1', { period }))
    const linked = await at.state('sub_1')
    assert.equal(linked.id, subscription.id)
    assert.deepEqual([linked.status, linked.paidUntil], ['active', period.endsAt])
    await at.run()
    assert.deepEqual(await at.events('sub_1'), ['SubscriptionCreated', 'SubscriptionRenewed'])
    assert.deepEqual(await at.reviews(), [])
    assert.equal((await at.periods('sub_1')).length, 1)
    // Somebody has changed its price at the provider.
    at.provider.stated.set('sub_1', statementOf('sub_1', period.startsAt, { amount: 100n }))
    await at.say(changed('sub_1'))
    await at.run()
    assert.deepEqual(await at.reviews(), ['terms_mismatch'])
    assert.equal((await at.state('sub_1')).amount, 4_999n)
    const next = { amount: 100n, period: monthFrom(period.endsAt) }
    assert.deepEqual(await at.say(renews('sub_1', 'ch_2', next)), ['renewal_money_differs'])
  })

  test('one that was made here is linked by a callback that comes before its payment', async () => {
    const { subscription, payment } = await made(at)
    const { startsAt } = monthFrom(new Date(at.clock.now.getTime() + hours(20)))
    at.provider.stated.set('sub_1', statementOf('sub_1', startsAt))
    assert.deepEqual(await at.say(changed('sub_1', payment)), ['applied'])
    await at.run()
    assert.equal((await at.state('sub_1')).id, subscription.id)
    assert.equal((await at.state('sub_1')).status, 'incomplete')
    assert.deepEqual(await at.say(changed('sub_2', payment)), ['subscription_mismatch'])
    await at.say(begins(payment, 'sub_1'))
    await at.run()
    const state = await at.state('sub_1')
    assert.deepEqual([state.status, state.paidUntil], ['active', monthFrom(startsAt).endsAt])
    assert.equal((await at.periods('sub_1')).length, 1)
  })

  test('one that was made here and is never paid ends once its page is over', async () => {
    const { subscription, payment } = await made(at)
    const { db } = at.billing.database
    at.pass(hours(24))
    assert.equal(await at.run(), 1)
    const stands = async () => (await at.billing.core.subscriptions.get(subscription.id))?.status
    assert.equal(await stands(), 'incomplete')
    await sql`update billing.payments set status = 'canceled', checkout = 'closed'
      where id = ${payment.id}::uuid`.execute(db)
    at.pass(minutes(15))
    assert.equal(await at.run(), 1)
    assert.equal(await stands(), 'canceled')
    assert.deepEqual(at.provider.asked, [])
  })

  test('one that is not linked yet is linked by the sync, where its payment says what it began', async () => {
    const { subscription, payment } = await made(at)
    const { db } = at.billing.database
    const period = monthFrom(at.clock.now)
    at.provider.stated.set('sub_1', statementOf('sub_1', at.clock.now))
    await at.say(begins(payment, 'sub_1', { period }))
    await sql`update billing.subscriptions set provider_reference = null,
      sync_wanted_at = null, synced_at = null`.execute(db)
    assert.equal(await at.run(), 1)
    assert.equal((await at.state('sub_1')).id, subscription.id)
  })

  test('a worker is woken by the change', async () => {
    const payment = await at.create()
    const start = new Date(Math.floor(Date.now() / 1000) * 1000)
    at.provider.stated.set('sub_1', statementOf('sub_1', start, { status: 'trialing' }))
    const change = {
      type: 'subscription',
      reference: 'sub_1',
      payment: { id: payment.id },
    } as const
    assert.equal((await at.billing.sayBy('managing', change)).state, 'processed')
    await until(async () => (await at.state('sub_1')).status === 'trialing', {
      what: 'the provider was asked',
    })
  })
})
