import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { givesAccess } from '../../src/billing/subscription-reads.ts'
import { days } from '../../src/kernel/duration.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { hasAccess, unusedAmount } from '../../src/index.ts'
import { createdSubscriptionSchema, subscriptionSchema } from '../../src/wire/subscription.ts'
import { subscriptionDetailsSchema } from '../../src/wire/subscription-details.ts'
import { pollReply, scriptedGateway, type Script } from '../money/scripted.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import { answers, declined, takesMoney, unanswered, type Till } from './subscribing.ts'

const account = () => ({ type: 'account', id: newUuid() })
const shop = 'https://shop.example'

onAnyDatabase((engine) => {
  describe('billing.subscriptions', () => {
    let billing: StatedBilling
    const script: Script = {}
    const till: Till = { asked: [], debits: [] }
    const clock = { now: new Date() }
    const heard: string[] = []
    before(async () => {
      billing = await openStated(engine, {
        extraGateways: [stating, { ...scriptedGateway(script), chargesPerMinute: 600_000 }],
        providerTimeoutMs: 30_000,
        returnOrigins: [shop],
        plans: {
          pro: { amount: 19_900, currency: 'UAH', every: 'month', trialDays: 14 },
          year: { amount: 199_900, currency: 'UAH', every: 'year' },
        },
        subscriptions: { graceAccess: false, timeZone: 'Europe/Kyiv' },
        listen: ({ core }) =>
          core.on('PaymentSucceeded', 'askForAccess', async ({ payment }, context) => {
            const { subscriptions } = context.billing
            const page = await subscriptions.list({ payable: payment.payable })
            heard.push(`${await subscriptions.access(payment.payable)} ${page.data.length}`)
            await assert.rejects(core.subscriptions.access(payment.payable), {
              code: 'outer_handle_in_listener',
            })
            await assert.rejects(core.subscriptions.cancel(page.data[0]?.id ?? ''), {
              code: 'gateway_call_in_transaction',
            })
          }),
      })
      const { processing } = await billing.runtime.context()
      clock.now = await processing.subscriptionTime(billing.database.db)
      Object.assign(processing, { subscriptionTime: async () => clock.now })
    })
    after(() => billing.close())
    beforeEach(() => {
      takesMoney(script, till)
      till.asked.length = 0
      till.debits.length = 0
      heard.length = 0
    })

    const subscriptions = () => billing.core.subscriptions
    const pass = (length: number) => {
      clock.now = new Date(clock.now.getTime() + length)
    }
    const card = async () => {
      const id = newUuid()
      await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
        values (${id}::uuid, 'scripted', 'attached', ${`pm_${id}`})`.execute(billing.database.db)
      return id
    }
    const terms = { gateway: 'scripted', amount: 4_999, currency: 'USD', every: 'month' } as const
    const create = (input: Partial<CreateSubscriptionInput> = {}) =>
      subscriptions().create({ ...terms, payable: account(), ...input })
    const active = async (input: Partial<CreateSubscriptionInput> = {}) => {
      const { subscription } = await create({ paymentMethodId: await card(), ...input })
      assert.equal(subscription.status, 'active')
      return subscription
    }
    const details = async (id: string) => {
      const found = await subscriptions().get(id)
      assert.ok(found)
      subscriptionDetailsSchema.parse(JSON.parse(JSON.stringify(found)))
      return found
    }
    const due = async (id: string) => {
      await sql`update billing.subscriptions set next_action_at = null
        where id <> ${id}::uuid`.execute(billing.database.db)
      await subscriptions().runDue()
    }
    /** One whose renewal was asked for, and nobody knows what became of it. */
    const undecided = async () => {
      const subscription = await active()
      answers({ script, till }, unanswered)
      pass(days(32))
      await due(subscription.id)
      const { openPeriod, payments } = await details(subscription.id)
      const charge = payments.at(-1)
      assert.ok(openPeriod)
      assert.ok(charge)
      assert.equal(charge.checkout, 'unknown')
      return { id: subscription.id, charge }
    }
    const settle = async (id: string) => {
      script.poll = async ({ payment: { id: of, amount, currency } }) => {
        const about = { type: 'payment', payment: { id: of } } as const
        return pollReply([{ ...about, status: 'paid', amount, currency }], { standing: 'paid' })
      }
      await pollPayment(id, await billing.runtime.entitledContext())
    }

    test('test money opens nothing in production, unless it is asked for', async () => {
      const payable = account()
      await create({ payable, live: false, paymentMethodId: await card() })
      const { processing } = await billing.runtime.entitledContext()
      const inProduction = (test?: boolean) =>
        givesAccess(billing.database.db, { payable, test }, { ...processing, production: true })
      assert.equal(await subscriptions().access(payable), true)
      assert.equal(await subscriptions().access(payable, { test: false }), false)
      assert.deepEqual([await inProduction(), await inProduction(true)], [false, true])
      await create({ payable, live: true, paymentMethodId: await card() })
      assert.equal(await inProduction(), true)
      const misspelt = { tset: true } as object
      await assert.rejects(subscriptions().access(payable, misspelt), { code: 'query_invalid' })
    })

    test('what is not known to be test money is so once a payment of it says it', async () => {
      const charge = script.chargeSavedCard
      script.chargeSavedCard = async (request, operation) => {
        assert.ok(charge)
        return { ...(await charge(request, operation)), live: false }
      }
      const { subscription } = await create({ paymentMethodId: await card() })
      const { live, payments } = await details(subscription.id)
      assert.deepEqual([live, payments.map((one) => one.live)], [false, [false]])
    })

    test('a saved card is charged at once, and the first period granted', async () => {
      const payable = account()
      const created = await create({ payable, paymentMethodId: await card() })
      createdSubscriptionSchema.parse({
        subscription: JSON.parse(JSON.stringify(created.subscription)),
        payment: JSON.parse(JSON.stringify(created.payment)),
      })
      const { subscription, payment } = created
      assert.equal(subscription.status, 'active')
      assert.equal(subscription.access, true)
      assert.equal(subscription.timeZone, 'Europe/Kyiv')
      assert.equal(subscription.graceAccess, false)
      assert.equal(payment?.status, 'paid')
      assert.deepEqual(payment?.payable, payable)
      const found = await details(subscription.id)
      assert.deepEqual(
        found.periods.map(({ number, state }) => [number, state]),
        [[1, 'paid']],
      )
      assert.deepEqual(
        found.payments.map(({ id }) => id),
        [payment?.id],
      )
      assert.deepEqual(
        found.transitions.map(({ from, to, reason }) => [from, to, reason]),
        [
          [null, 'incomplete', 'created'],
          ['incomplete', 'active', 'paid'],
        ],
      )
      assert.match(found.payUrl, new RegExp(`/billing/subscriptions/${subscription.id}/pay$`))
      assert.equal(await subscriptions().access(payable), true)
      assert.equal(await subscriptions().access(account()), false)
      assert.deepEqual(heard, ['true 1'])
      assert.equal((await billing.core.payments.get(payment?.id ?? ''))?.period?.number, 1)
      assert.equal(hasAccess(found, clock.now), true)
      assert.equal(unusedAmount(found, found.currentPeriod?.startsAt ?? clock.now), 4_999n)
    })

    test('without a card the payer gets a checkout that saves one, and can go on from there', async () => {
      const { subscription, payment } = await create({ returnUrl: `${shop}/thanks` })
      assert.equal(subscription.status, 'incomplete')
      assert.equal(subscription.access, false)
      assert.equal(payment?.checkoutUrl, 'https://provider.example/pay')
      assert.equal(payment?.saveCard, true)
      assert.equal(payment?.returnUrl, `${shop}/thanks`)
      const bill = await subscriptions().bill(subscription.id)
      assert.deepEqual(bill?.owed, {
        amount: 4_999n,
        currency: 'USD',
        startsAt: null,
        endsAt: null,
        isInAdvance: false,
      })
      // The page that is open is the one to pay on: there is no second one.
      assert.equal((await subscriptions().pay(subscription.id)).id, payment?.id)
      await settle(payment?.id ?? '')
      assert.equal((await details(subscription.id)).status, 'active')
      assert.equal((await subscriptions().bill(subscription.id))?.owed, null)
      await assert.rejects(subscriptions().pay(subscription.id), {
        code: 'subscription_invalid',
        fix: /subscriptions show/,
      })
    })

    test('a page that has ended is paid on no more: another opens once it is certainly closed', async () => {
      const { subscription, payment } = await create()
      pass(2 * 3_600_000)
      script.closeCheckout = async () => 'not_open'
      await assert.rejects(subscriptions().pay(subscription.id), {
        code: 'renewal_under_way',
        message: /has ended/,
      })
      script.closeCheckout = async () => 'closed'
      const other = await subscriptions().pay(subscription.id)
      assert.notEqual(other.id, payment?.id)
      assert.equal((await billing.core.payments.get(payment?.id ?? ''))?.status, 'canceled')
    })

    test('whoever pays on the page goes on to where the subscription was made, or where is said', async () => {
      const returnUrl = `${shop}/account`
      const paid = async (input: { readonly returnUrl?: string } = {}) => {
        const { subscription } = await create({ trialDays: 14, returnUrl })
        return subscriptions().pay(subscription.id, input)
      }
      assert.equal((await paid()).returnUrl, returnUrl)
      const elsewhere = { returnUrl: `${shop}/thanks` }
      assert.equal((await paid(elsewhere)).returnUrl, elsewhere.returnUrl)
      // That origin is not allowed any more: there is no way back, and the payer can still pay.
      const { subscription } = await create({ trialDays: 14, returnUrl })
      const content = JSON.stringify({ returnUrl: 'https://sold.example' })
      await sql`update billing.subscriptions set content = ${content}::json
        where id = ${subscription.id}::uuid`.execute(billing.database.db)
      assert.equal((await subscriptions().pay(subscription.id)).returnUrl, null)
    })

    test('a plan is copied, its trial is free, and may be paid in advance', async () => {
      const { subscription, payment } = await subscriptions().create({
        gateway: 'scripted',
        payable: account(),
        plan: 'pro',
      })
      assert.equal(payment, null)
      assert.deepEqual(
        [subscription.status, subscription.plan, subscription.amount, subscription.access],
        ['trialing', 'pro', 19_900n, true],
      )
      const end = subscription.trialEndsAt
      assert.ok(end)
      const length = end.getTime() - clock.now.getTime()
      assert.ok(Math.abs(length - days(14)) <= 3_600_000, `${length}`)
      const bill = await subscriptions().bill(subscription.id)
      assert.deepEqual(
        [bill?.owed?.isInAdvance, bill?.owed?.amount, bill?.owed?.startsAt],
        [true, 19_900n, end],
      )
      const paid = await subscriptions().pay(subscription.id)
      await settle(paid.id)
      const found = await details(subscription.id)
      assert.deepEqual(found.currentPeriod?.startsAt, end)
    })

    test('39: two `create` at once are one subscription, one payment, one charge', async () => {
      const input = { id: newUuid(), payable: account(), paymentMethodId: await card() }
      const made = await Promise.all([create(input), create(input), create(input)])
      assert.equal(new Set(made.map(({ payment }) => payment?.id)).size, 1)
      assert.equal(till.asked.length, 1)
      assert.equal((await subscriptions().list({ payable: input.payable })).data.length, 1)
      const again = await create(input)
      assert.equal(again.payment?.id, made[0].payment?.id)
      assert.equal(again.subscription.status, 'active')
      await assert.rejects(create({ ...input, amount: 5_000 }), { code: 'subscription_exists' })
      assert.equal(till.asked.length, 1)
      const other = { id: newUuid(), payable: account() }
      const both = await Promise.allSettled([create(other), create({ ...other, amount: 1 })])
      assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
    })

    test('a repeated `create` needs neither the card, nor the time to be as they were', async () => {
      const paymentMethodId = await card()
      const trialEndsAt = new Date(clock.now.getTime() + days(2))
      const input = { id: newUuid(), payable: account(), paymentMethodId, trialEndsAt }
      const { subscription } = await create({ ...input, customer: { id: '7', email: 'a@b.c' } })
      await sql`update billing.payment_methods set status = 'detached'
        where id = ${paymentMethodId}::uuid`.execute(billing.database.db)
      pass(days(3))
      const again = await create({ ...input, customer: { email: 'a@b.c', id: '7' } })
      assert.equal(again.subscription.id, subscription.id)
      assert.equal(again.subscription.access, false)
    })

    test('what cannot be sold is refused before anything is written', async () => {
      const before = (await subscriptions().list({ limit: 100 })).data.length
      const past = new Date(clock.now.getTime() - 1)
      const gone = await card()
      await sql`update billing.payment_methods set status = 'detached'
        where id = ${gone}::uuid`.execute(billing.database.db)
      for (const [input, error] of [
        [{ gateway: 'paddle' }, { code: 'operation_unsupported', message: /Paddle cannot charge/ }],
        [{ gateway: 'stating' }, { code: 'operation_unsupported' }],
        [{ gateway: 'nobody' }, { code: 'gateway_unknown' }],
        [{ plan: 'gold' }, { code: 'subscription_invalid', message: /There are|there are/ }],
        [
          { trialEndsAt: past },
          { code: 'subscription_invalid', message: /^trialEndsAt must be in/ },
        ],
        [{ paidUntil: past }, { code: 'subscription_invalid', message: /^paidUntil must be in/ }],
        [{ paymentMethodId: newUuid() }, { code: 'payment_method_unusable' }],
        [{ paymentMethodId: gone }, { code: 'payment_method_unusable', message: /removed/ }],
        [{ returnUrl: 'https://evil.example' }, { code: 'return_url_not_allowed' }],
      ] as const) {
        await assert.rejects(create(input), error)
      }
      assert.equal((await subscriptions().list({ limit: 100 })).data.length, before)
    })

    test('what nobody has, or what has ended, is refused', async () => {
      for (const wish of ['cancel', 'pause', 'resume', 'pay'] as const) {
        const nobody = { code: 'subscription_not_found' }
        await assert.rejects(subscriptions()[wish](newUuid()), nobody)
        await assert.rejects(subscriptions()[wish]('7'), nobody)
      }
      await assert.rejects(subscriptions().change(newUuid(), {}), {
        code: 'subscription_not_found',
      })
      const { id } = await active()
      const ended = await subscriptions().cancel(id, { at: 'now' })
      assert.deepEqual(
        [ended.status, ended.access, ended.endReason],
        ['canceled', false, 'requested'],
      )
      subscriptionSchema.parse(JSON.parse(JSON.stringify(ended)))
      for (const wish of ['cancel', 'pause', 'resume', 'pay'] as const) {
        await assert.rejects(subscriptions()[wish](id), { code: 'subscription_ended' })
      }
      await assert.rejects(subscriptions().change(id, { amount: 1 }), {
        code: 'subscription_ended',
      })
      assert.equal((await subscriptions().bill(id))?.owed, null)
      assert.equal(await subscriptions().get('7'), undefined)
    })

    test('lists and questions that are misspelt are refused', async () => {
      for (const [ask, message] of [
        [
          () => subscriptions().list({ payble: account() } as object),
          /payble.*did you mean payable/,
        ],
        [() => subscriptions().list({ payable: undefined } as object), /payable is undefined/],
        [() => subscriptions().access(undefined as never), /payable is undefined/],
        [() => subscriptions().access({ type: 'account' } as never), /payable\.id is required/],
        [() => subscriptions().due({ untl: new Date() } as object), /did you mean until/],
      ] as const) {
        await assert.rejects(ask(), { code: 'query_invalid', message })
      }
    })

    test('32: a cancel now closes the page that is open', async () => {
      const closed: string[] = []
      script.closeCheckout = async ({ payment }) => {
        closed.push(payment.id)
        return 'closed'
      }
      const { subscription, payment } = await create()
      await subscriptions().cancel(subscription.id, { at: 'now' })
      assert.deepEqual(closed, [payment?.id])
      assert.equal((await billing.core.payments.get(payment?.id ?? ''))?.status, 'canceled')
    })

    test('32: a pause now and a page are refused while a charge is undecided; a change is for later', async () => {
      const { id, charge } = await undecided()
      const underWay = { code: 'renewal_under_way' }
      await assert.rejects(subscriptions().pause(id, { at: 'now' }), underWay)
      await assert.rejects(subscriptions().pay(id), underWay)
      assert.equal((await subscriptions().bill(id))?.isCharging, true)
      const changed = await subscriptions().change(id, { amount: 9_999 })
      assert.deepEqual([changed.amount, changed.nextTerms?.amount], [4_999n, 9_999n])
      await settle(charge.id)
      assert.equal((await details(id)).currentPeriod?.amount, 4_999n)
      takesMoney(script, till)
      pass(days(32))
      await due(id)
      const after = await details(id)
      assert.deepEqual([after.amount, after.currentPeriod?.amount], [9_999n, 9_999n])
    })

    test('35: resumed inside paid time it goes on with it, after that a new period begins and is charged', async () => {
      const { id, paidUntil } = await active()
      const paused = await subscriptions().pause(id, { at: 'now' })
      assert.deepEqual([paused.status, paused.access], ['paused', false])
      pass(days(3))
      const inside = await subscriptions().resume(id)
      assert.deepEqual(
        [inside.status, inside.paidUntil, inside.access],
        ['active', paidUntil, true],
      )
      assert.equal(till.asked.length, 1)
      await subscriptions().pause(id, { at: 'now' })
      pass(days(60))
      const after = await subscriptions().resume(id)
      assert.deepEqual([after.status, after.access], ['active', true])
      assert.equal(till.asked.length, 2)
      const { currentPeriod } = await details(id)
      assert.ok(currentPeriod)
      assert.ok(currentPeriod.startsAt.getTime() >= clock.now.getTime() - 1)
    })

    test('35: what was planned is taken back', async () => {
      const { id, paidUntil } = await active()
      assert.deepEqual((await subscriptions().cancel(id)).cancelAt, paidUntil)
      assert.equal((await subscriptions().resume(id)).cancelAt, null)
      const until = new Date(clock.now.getTime() + days(90))
      const paused = await subscriptions().pause(id, { until })
      assert.deepEqual(
        [paused.status, paused.pauseAt, paused.resumeAt],
        ['active', paidUntil, until],
      )
      const back = await subscriptions().resume(id)
      assert.deepEqual([back.pauseAt, back.resumeAt], [null, null])
    })

    test('36: a change before a renewal is charged with it; one of the length begins there', async () => {
      const { id, paidUntil } = await active()
      const changed = await subscriptions().change(id, { plan: 'year', amount: 150_000 })
      assert.deepEqual(changed.nextTerms?.every, { unit: 'year', count: 1 })
      assert.equal(changed.nextTerms?.plan, 'year')
      assert.equal(changed.amount, 4_999n)
      pass(days(32))
      await due(id)
      const after = await details(id)
      assert.deepEqual(
        [after.plan, after.amount, after.currency, after.currentPeriod?.startsAt],
        ['year', 150_000n, 'UAH', paidUntil],
      )
      assert.equal(after.payments.at(-1)?.description, 'year')
      const length = (after.paidUntil?.getTime() ?? 0) - (paidUntil?.getTime() ?? 0)
      assert.ok(length >= days(365) - 3_600_000)
    })

    test('36: a new card for what was declined is charged at once', async () => {
      const { id } = await active()
      answers({ script, till }, declined('stolen'))
      pass(days(32))
      await due(id)
      const failed = await details(id)
      assert.deepEqual(
        [failed.status, failed.openPeriod?.needs, failed.access],
        ['past_due', 'new_card', false],
      )
      const changed = await subscriptions().change(id, { paymentMethodId: await card() })
      assert.deepEqual(changed.nextActionAt, clock.now)
      await due(id)
      const recovered = await details(id)
      assert.deepEqual([recovered.status, recovered.access], ['active', true])
      await assert.rejects(subscriptions().change(id, { paymentMethodId: newUuid() }), {
        code: 'payment_method_unusable',
      })
      await assert.rejects(subscriptions().change(id, { trialEndsAt: new Date() }), {
        code: 'subscription_invalid',
        message: /^trialEndsAt: the subscription is in no trial/,
      })
      const described = await subscriptions().change(id, { metadata: { seat: 3 } })
      assert.deepEqual(described.metadata, { seat: 3 })
      assert.equal((await subscriptions().change(id, { metadata: null })).metadata, null)
    })

    test('charges are held and released; what is due is listed meanwhile', async () => {
      const { id, paidUntil } = await active()
      await subscriptions().hold('wrong prices')
      pass(days(32))
      const until = new Date(clock.now.getTime() + days(1))
      assert.ok((await subscriptions().due({ limit: 100 })).some((one) => one.id === id))
      assert.ok((await subscriptions().due({ limit: 100, until })).some((one) => one.id === id))
      await due(id)
      assert.deepEqual((await details(id)).paidUntil, paidUntil)
      const { warnings, ready } = await billing.core.readiness()
      assert.ok(ready)
      assert.deepEqual(
        warnings.filter((text) => text === 'no period is charged until it is released').length,
        1,
      )
      await subscriptions().release()
      await sql`update billing.subscriptions set next_action_at = ${clock.now}
        where id = ${id}::uuid`.execute(billing.database.db)
      await due(id)
      assert.notDeepEqual((await details(id)).paidUntil, paidUntil)
      await assert.rejects(subscriptions().hold(''), { code: 'subscription_invalid' })
    })
  })
})
