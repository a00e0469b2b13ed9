import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { days, hours, minutes } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { subscriptionDetailsSchema } from '../../src/wire/subscription-details.ts'
import { age, pollReply } from '../money/scripted.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import { managingProvider } from './managing-provider.ts'

const shop = 'https://shop.example'

onAnyDatabase((engine) => {
  describe('a subscription that the provider is to manage', () => {
    const provider = managingProvider()
    const { script, checkouts } = provider
    const answers = { ...script }
    const { chargeSavedCard: _, ...unable } = provider.gateway
    let billing: StatedBilling
    const clock = { now: new Date() }
    before(async () => {
      billing = await openStated(engine, {
        extraGateways: [
          stating,
          provider.gateway,
          { ...unable, name: 'unable', title: 'Unable' },
          {
            ...stating,
            name: 'form',
            checkout: { kind: 'page', url: () => 'https://own.example' },
          },
        ],
        providerTimeoutMs: 30_000,
        returnOrigins: [shop],
        plans: { pro: { amount: 19_900, currency: 'UAH', every: 'month', trialDays: 14 } },
      })
      const { processing } = await billing.runtime.context()
      clock.now = await processing.subscriptionTime(billing.database.db)
      Object.assign(processing, { subscriptionTime: async () => clock.now })
    })
    after(() => billing.close())
    beforeEach(() => {
      Object.assign(script, answers)
      checkouts.length = 0
    })

    const subscriptions = () => billing.core.subscriptions
    const account = () => ({ type: 'account', id: newUuid() })
    const create = (input: Partial<CreateSubscriptionInput> = {}) =>
      subscriptions().create({
        gateway: 'scripted',
        managedBy: 'provider',
        amount: 4_999,
        currency: 'USD',
        every: 'month',
        payable: account(),
        ...input,
      })
    const details = async (id: string) => {
      const found = await subscriptions().get(id)
      assert.ok(found)
      subscriptionDetailsSchema.parse(JSON.parse(JSON.stringify(found)))
      return found
    }
    const poll = async (id: string) => pollPayment(id, await billing.runtime.entitledContext())
    const count = async () => {
      const { rows } = await sql<{ n: string }>`
        select count(*) as n from billing.subscriptions`.execute(billing.database.db)
      return rows[0]?.n
    }

    test('begins with a checkout that says its terms, and with no card of ours', async () => {
      const { subscription, payment } = await create({ returnUrl: `${shop}/thanks` })
      assert.deepEqual(
        [
          subscription.managedBy,
          subscription.providerReference,
          subscription.status,
          subscription.access,
          subscription.renewable,
        ],
        ['provider', null, 'incomplete', false, true],
      )
      assert.equal(payment?.checkoutUrl, 'https://provider.example/subscribe')
      assert.deepEqual(
        [payment.amount, payment.saveCard, payment.returnUrl],
        [4_999n, false, `${shop}/thanks`],
      )
      const [request] = checkouts
      assert.equal(request?.payment.id, payment.id)
      assert.equal(request.payment.amount, 4_999n)
      assert.deepEqual(request.recurring, {
        every: { unit: 'month', count: 1 },
        timeZone: 'UTC',
        trialEndsAt: null,
      })
      const { openPeriod, currentPeriod } = await details(subscription.id)
      assert.deepEqual([openPeriod?.number, openPeriod?.id], [1, payment.periodId])
      assert.equal(currentPeriod, null)
    })

    test('before a trial the checkout takes nothing, and says what is charged after it', async () => {
      const { subscription, payment } = await create({
        amount: undefined,
        every: undefined,
        currency: undefined,
        plan: 'pro',
      })
      assert.equal(subscription.status, 'incomplete')
      const { trialEndsAt } = subscription
      assert.ok(trialEndsAt)
      assert.equal(payment?.amount, 0n)
      const [request] = checkouts
      assert.deepEqual(
        [request?.payment.id, request?.payment.amount, request?.recurring?.trialEndsAt],
        [payment.id, 19_900n, trialEndsAt],
      )
      assert.equal(request?.payment.description, 'pro')
      const { openPeriod } = await details(subscription.id)
      assert.deepEqual([openPeriod?.number, openPeriod?.kind, openPeriod?.amount], [0, 'trial', 0n])
    })

    test('what was paid with nothing pays for no period that has a price', async () => {
      const { subscription, payment } = await create({ trialDays: 14 })
      assert.ok(payment)
      provider.begin(payment)
      await poll(payment.id)
      assert.equal((await billing.core.payments.get(payment.id))?.status, 'paid')
      const { periods, paidUntil, openPeriod } = await details(subscription.id)
      assert.deepEqual(
        periods.map(({ number, state, amount }) => [number, state, amount]),
        [[0, 'free', 0n]],
      )
      assert.deepEqual([paidUntil, openPeriod], [null, null])
    })

    test('39: two `create` at once are one subscription with one checkout', async () => {
      const input = { id: newUuid(), payable: account() }
      const made = await Promise.all([create(input), create(input), create(input)])
      assert.equal(new Set(made.map(({ payment }) => payment?.id)).size, 1)
      assert.equal(checkouts.length, 1)
      const again = await create(input)
      assert.equal(again.payment?.id, made[0].payment?.id)
      for (const other of [{ amount: 5_000 }, { managedBy: 'local' }, { trialDays: 7 }] as const) {
        await assert.rejects(create({ ...input, ...other }), { code: 'subscription_exists' })
      }
      const trial = { id: newUuid(), payable: account(), trialDays: 14 }
      const [one, other] = [await create(trial), await create(trial)]
      assert.equal(one.payment?.id, other.payment?.id)
      assert.equal(checkouts.length, 2)
    })

    test('39: that we charge it need not be said again', async () => {
      const input = { id: newUuid(), payable: account(), trialDays: 7 }
      await create({ ...input, managedBy: 'local' })
      assert.equal((await create({ ...input, managedBy: undefined })).subscription.id, input.id)
    })

    test('the lost answer of its checkout is found by a poll, and no second one is asked for', async () => {
      script.open = async (request) => {
        checkouts.push(request)
        throw new QuittanceError('provider_unreachable', 'the answer was lost')
      }
      const id = newUuid()
      const input = { id, payable: account() }
      await assert.rejects(create(input), { code: 'checkout_unknown' })
      const known = await create(input)
      assert.deepEqual([known.payment?.checkout, known.payment?.checkoutUrl], ['unknown', null])
      assert.equal(checkouts.length, 1)
      await assert.rejects(subscriptions().pay(id), { code: 'checkout_unknown' })
      script.poll = async ({ payment }) =>
        pollReply([], {
          checkout: { url: 'https://provider.example/found', checkoutReference: payment.id },
        })
      await poll(known.payment?.id ?? '')
      const found = await subscriptions().pay(id)
      assert.deepEqual(
        [found.id, found.checkoutUrl],
        [known.payment?.id, 'https://provider.example/found'],
      )
      assert.equal(checkouts.length, 1)
    })

    test('one whose process dies before the checkout is asked for ends once the poll finds none', async () => {
      script.open = async () => {
        throw new QuittanceError('provider_unreachable', 'nothing was sent')
      }
      const id = newUuid()
      await assert.rejects(create({ id }), { code: 'checkout_unknown' })
      const { payments } = await details(id)
      const [payment] = payments
      assert.ok(payment)
      script.poll = async () => pollReply([], { standing: 'absent' })
      await age(billing, payment, 25)
      await poll(payment.id)
      const { status, endReason, periods } = await details(id)
      assert.deepEqual([status, endReason, periods[0]?.state], ['canceled', 'incomplete', 'void'])
    })

    test('a checkout that ends unpaid ends it; money that comes after that is for a person', async () => {
      const { subscription, payment } = await create()
      assert.ok(payment)
      await age(billing, payment, 25)
      script.poll = async () => pollReply([], { standing: 'unpaid' })
      await poll(payment.id)
      assert.equal((await details(subscription.id)).status, 'canceled')
      assert.deepEqual(
        (await subscriptions().list({ payable: subscription.payable })).data.length,
        1,
      )
      const { paid } = provider.begin(payment)
      script.poll = async () => pollReply([paid], { standing: 'paid' })
      await poll(payment.id)
      assert.equal((await details(subscription.id)).status, 'canceled')
      const { data } = await billing.core.reviews.list({ paymentId: payment.id })
      assert.deepEqual(
        data.map(({ reason }) => reason),
        ['period_void'],
      )
    })

    test('what a provider cannot be given to manage is refused before anything is written', async () => {
      const before = await count()
      const card = newUuid()
      for (const [input, error] of [
        [
          { gateway: 'stating' },
          { code: 'operation_unsupported', message: /manage subscriptions/ },
        ],
        [{ gateway: 'form' }, { code: 'operation_unsupported' }],
        [
          { every: '2 years' },
          { code: 'subscription_invalid', field: 'every', message: /a year at most/ },
        ],
        [{ paymentMethodId: card }, { code: 'subscription_invalid', field: 'paymentMethodId' }],
        [
          { paidUntil: new Date(clock.now.getTime() + days(9)) },
          { code: 'subscription_invalid', field: 'paidUntil' },
        ],
        [{ amount: 0 }, { code: 'subscription_invalid', field: 'amount' }],
        [{ managedBy: 'somebody' }, { code: 'subscription_invalid', field: 'managedBy' }],
        [
          { gateway: 'unable', managedBy: 'local' },
          {
            code: 'operation_unsupported',
            message: /^Unable cannot charge/,
            fix: /managedBy: 'provider'/,
          },
        ],
        [{ returnUrl: 'https://evil.example' }, { code: 'return_url_not_allowed' }],
      ] as const) {
        await assert.rejects(create(input as Partial<CreateSubscriptionInput>), error)
      }
      assert.equal(await count(), before)
      // It charges no saved card, and need not.
      const { subscription } = await create({ gateway: 'unable' })
      assert.equal(subscription.managedBy, 'provider')
    })

    test('a refused checkout is no subscription: after its hours it is over', async () => {
      script.open = async () => {
        throw new QuittanceError('provider_refused', 'the provider says no', { providerCode: 'no' })
      }
      const id = newUuid()
      await assert.rejects(create({ id }), { code: 'checkout_refused' })
      assert.equal((await details(id)).status, 'incomplete')
      clock.now = new Date(clock.now.getTime() + hours(24) + minutes(1))
      await subscriptions().runDue()
      const { status, endReason } = await details(id)
      assert.deepEqual([status, endReason], ['canceled', 'incomplete'])
    })

    test('lists say who charges, and can ask for that', async () => {
      const payable = account()
      const { subscription } = await create({ payable })
      await create({ payable, managedBy: 'local' })
      const { data } = await subscriptions().list({ payable, managedBy: 'provider' })
      assert.deepEqual(
        data.map(({ id }) => id),
        [subscription.id],
      )
      assert.equal((await subscriptions().list({ payable })).data.length, 2)
    })
  })
})
