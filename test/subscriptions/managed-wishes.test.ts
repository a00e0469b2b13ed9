import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { days } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { pollPayment } from '../../src/money/poll-payment.ts'
import { subscriptionSchema } from '../../src/wire/subscription.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import { until } from '../support/until.ts'
import { managingProvider } from './managing-provider.ts'

onAnyDatabase((engine) => {
  describe('wishes about a subscription that the provider manages', () => {
    const provider = managingProvider()
    const { script, asked, stated, odd } = provider
    const answers = { ...script }
    const { subscriptions: operations } = provider.gateway
    assert.ok(operations)
    const { pause: _pause, ...withoutPause } = operations
    const unpausing = { ...provider.gateway, name: 'unpausing', subscriptions: withoutPause }
    let billing: StatedBilling
    const refusedInListener: string[] = []
    before(async () => {
      billing = await openStated(engine, {
        extraGateways: [stating, provider.gateway, { ...unpausing, title: 'Unpausing' }],
        providerTimeoutMs: 30_000,
        listen: ({ core }) =>
          core.on('PaymentSucceeded', 'wishInside', async ({ payment }) => {
            const { data } = await core.paymentMethods
              .list({ limit: 1 })
              .catch(() => ({ data: [] }))
            assert.deepEqual(data, [])
            for (const wish of ['cancel', 'pause', 'resume', 'sync'] as const) {
              const error = await core.subscriptions[wish](payment.id).catch((one: unknown) => one)
              refusedInListener.push((error as QuittanceError).code)
            }
          }),
      })
    })
    after(() => billing.close())
    beforeEach(() => {
      Object.assign(script, answers)
      asked.length = 0
      odd.length = 0
      refusedInListener.length = 0
    })

    const subscriptions = () => billing.core.subscriptions
    const create = (input: Partial<CreateSubscriptionInput> = {}) =>
      subscriptions().create({
        gateway: 'scripted',
        managedBy: 'provider',
        amount: 4_999,
        currency: 'USD',
        every: 'month',
        payable: { type: 'account', id: newUuid() },
        ...input,
      })
    const poll = async (id: string) => pollPayment(id, await billing.runtime.entitledContext())
    /** Its checkout is paid, and the provider has begun it. */
    const active = async (input: Partial<CreateSubscriptionInput> = {}) => {
      const { subscription, payment } = await create(input)
      assert.ok(payment)
      const { reference } = provider.begin(payment)
      await poll(payment.id)
      const begun = await subscriptions().sync(subscription.id)
      assert.deepEqual([begun.status, begun.providerReference], ['active', reference])
      return { id: begun.id, reference, payment, begun }
    }
    const reviews = async (paymentId: string) =>
      (await billing.core.reviews.list({ paymentId })).data.map(({ reason }) => reason)

    test('a cancellation is asked for once, and what the provider says since is the answer', async () => {
      const { id, reference, begun } = await active()
      const planned = await subscriptions().cancel(id)
      subscriptionSchema.parse(JSON.parse(JSON.stringify(planned)))
      assert.deepEqual(
        asked.map(({ what, reference: of }) => [what, of]),
        [['cancel period_end', reference]],
      )
      assert.equal(planned.status, 'active')
      assert.deepEqual(planned.cancelAt, stated.get(reference)?.cancelAt)
      assert.ok(planned.cancelAt !== null && begun.cancelAt === null)
      const back = await subscriptions().resume(id)
      assert.equal(back.cancelAt, null)
      const ended = await subscriptions().cancel(id, { at: 'now' })
      assert.deepEqual([ended.status, ended.endReason], ['canceled', 'provider'])
      assert.deepEqual(
        asked.map(({ what }) => what),
        ['cancel period_end', 'resume', 'cancel now'],
      )
      await assert.rejects(subscriptions().cancel(id), { code: 'subscription_ended' })
      assert.equal(asked.length, 3)
    })

    test('a pause is asked for with its end, and only the provider says that it is paused', async () => {
      const { id } = await active()
      const until = new Date(Math.ceil(Date.now() / 1000) * 1000 + days(60))
      const paused = await subscriptions().pause(id, { at: 'now', until })
      assert.deepEqual([paused.status, paused.access, paused.resumeAt], ['paused', false, until])
      const resumed = await subscriptions().resume(id)
      assert.deepEqual([resumed.status, resumed.access], ['active', true])
      // A provider that took the wish and did nothing: it stands as before.
      odd.push(async () => {})
      const unchanged = await subscriptions().pause(id, { at: 'now' })
      assert.equal(unchanged.status, 'active')
    })

    test('48: cancel, resume, cancel at once are three requests, and it ends as was asked last', async () => {
      const { id, reference } = await active()
      await Promise.all([
        subscriptions().cancel(id),
        subscriptions().resume(id),
        subscriptions().cancel(id),
      ])
      assert.equal(asked.length, 3)
      assert.equal(new Set(asked.map(({ wishId }) => wishId)).size, 3)
      const last = asked.at(-1)?.what
      const after = await subscriptions().get(id)
      assert.equal(after?.cancelAt !== null, last === 'cancel period_end')
      assert.deepEqual(after?.cancelAt, stated.get(reference)?.cancelAt)
      // One after another the last one counts, however quickly.
      await subscriptions().cancel(id)
      await subscriptions().resume(id)
      const planned = await subscriptions().cancel(id)
      assert.equal(new Set(asked.map(({ wishId }) => wishId)).size, 6)
      assert.ok(planned.cancelAt !== null)
    })

    test('what the provider refuses is its error, and nothing changes', async () => {
      const { id, begun } = await active()
      odd.push(async () => {
        throw new QuittanceError('provider_refused', 'the provider says no', { providerCode: 'no' })
      })
      await assert.rejects(subscriptions().cancel(id, { at: 'now' }), {
        code: 'provider_refused',
        message: 'the provider says no',
        providerCode: 'no',
      })
      const after = await subscriptions().get(id)
      assert.deepEqual([after?.status, after?.cancelAt], [begun.status, null])
    })

    test('where the answer is lost the wish is not repeated, and the next sync tells', async () => {
      const { id, reference } = await active()
      odd.push(async () => {
        const now = stated.get(reference)
        if (now !== undefined) {
          stated.set(reference, { ...now, status: 'canceled', endedAt: new Date() })
        }
        throw new QuittanceError('provider_unreachable', 'the answer was lost')
      })
      await assert.rejects(subscriptions().cancel(id, { at: 'now' }), {
        code: 'provider_unreachable',
      })
      assert.equal(asked.length, 1)
      // It is asked at once how it stands, by whoever works.
      const status = async () => (await subscriptions().get(id))?.status
      await until(async () => (await status()) === 'canceled', { what: 'the end is known' })
      assert.equal(asked.length, 1)
    })

    test('what the gateway cannot do is refused, and nobody is asked', async () => {
      const { id } = await active({ gateway: 'unpausing' })
      await assert.rejects(subscriptions().pause(id), {
        code: 'operation_unsupported',
        message: /^Unpausing cannot pause/,
      })
      assert.deepEqual(asked, [])
      assert.ok((await subscriptions().cancel(id)).cancelAt !== null)
    })

    test('no wish asks a provider inside of a listener', async () => {
      await active()
      assert.deepEqual([...new Set(refusedInListener)], ['gateway_call_in_transaction'])
      assert.equal(refusedInListener.length, 4)
    })

    test('metadata is ours to change, and all else is refused with what to do instead', async () => {
      const { id } = await active()
      const changed = await subscriptions().change(id, { metadata: { seat: 'A1' } })
      assert.deepEqual(changed.metadata, { seat: 'A1' })
      for (const input of [
        { amount: 1 },
        { every: 'year' },
        { paymentMethodId: null },
        { trialEndsAt: new Date() },
        { amount: 1, metadata: { seat: 'B2' } },
      ] as const) {
        await assert.rejects(subscriptions().change(id, input), {
          code: 'operation_unsupported',
          field: Object.keys(input)[0],
          fix: /Cancel it, and create another/,
        })
      }
      assert.deepEqual((await subscriptions().get(id))?.metadata, { seat: 'A1' })
      assert.deepEqual(asked, [])
    })

    test('the checkout that it begins with is the only one to pay on', async () => {
      const { subscription, payment } = await create()
      assert.equal((await subscriptions().pay(subscription.id)).id, payment?.id)
      assert.equal((await subscriptions().pay(subscription.id)).id, payment?.id)
      const { id } = await active()
      await assert.rejects(subscriptions().pay(id), {
        code: 'operation_unsupported',
        message: /charges the customer by itself/,
      })
      assert.equal((await subscriptions().get(id))?.payments.length, 1)
    })

    test('canceled before it has begun, its checkout is closed and it is over at once', async () => {
      for (const input of [{}, { trialDays: 14 }]) {
        const { subscription, payment } = await create(input)
        assert.ok(payment)
        const ended = await subscriptions().cancel(subscription.id)
        assert.deepEqual([ended.status, ended.endReason], ['canceled', 'requested'])
        assert.equal((await billing.core.payments.get(payment.id))?.status, 'canceled')
        assert.deepEqual(asked, [])
      }
    })

    test('paid while it is canceled it has begun: then its provider is asked to end it', async () => {
      const { subscription, payment } = await create()
      assert.ok(payment)
      provider.begin(payment)
      const ended = await subscriptions().cancel(subscription.id, { at: 'now' })
      assert.deepEqual([ended.status, ended.endReason], ['canceled', 'provider'])
      assert.deepEqual(
        asked.map(({ what }) => what),
        ['cancel now'],
      )
      assert.deepEqual(await reviews(payment.id), [])
    })

    test('while nobody can tell whether it has begun it is not ended', async () => {
      const { subscription, payment } = await create()
      assert.ok(payment)
      script.closeCheckout = async () => 'not_open'
      const { outcomes, ...rest } = (await answers.poll?.(
        { payment, handedAt: new Date() },
        {} as never,
      )) ?? { outcomes: [], listsRefunds: false }
      assert.deepEqual(outcomes, [])
      script.poll = async () => ({ ...rest, outcomes: [], standing: 'undecided' })
      await assert.rejects(subscriptions().cancel(subscription.id), { code: 'renewal_under_way' })
      assert.equal((await subscriptions().get(subscription.id))?.status, 'incomplete')
      for (const wish of ['pause', 'resume'] as const) {
        await assert.rejects(subscriptions()[wish](subscription.id), {
          code: 'subscription_invalid',
          message: /has not begun it/,
        })
      }
    })

    test('a sync finds the subscription of a checkout that was paid, though no callback came', async () => {
      for (const [input, status] of [
        [{}, 'active'],
        [{ trialDays: 14 }, 'trialing'],
      ] as const) {
        const { subscription, payment } = await create(input)
        assert.ok(payment)
        const { reference } = provider.begin(payment)
        const synced = await subscriptions().sync(subscription.id)
        assert.deepEqual([synced.status, synced.providerReference], [status, reference])
        assert.equal(synced.access, true)
      }
    })

    test('one that we charge has no provider to ask about', async () => {
      const { subscription } = await create({ managedBy: 'local' })
      await assert.rejects(subscriptions().sync(subscription.id), { code: 'subscription_invalid' })
      await assert.rejects(subscriptions().sync(newUuid()), { code: 'subscription_not_found' })
    })
  })
})
