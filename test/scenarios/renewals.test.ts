import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Payment } from '../../src/payments/payment.ts'
import { requeueCallsWithPayment } from '../../src/outcomes/awaiting.ts'
import { idle } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid, refund } from '../support/statements.ts'
import { statedCall, type Statement } from '../support/stating-gateway.ts'

forEachDatabase((engine) => {
  let stated: StatedBilling
  let failures = 0
  before(async () => {
    stated = await openStated(engine, {
      listen: ({ core }) =>
        core.on('PaymentSucceeded', 'stumble', ({ payment }) => {
          if (payment.providerReference === 'ch_stumbled' && failures-- > 0) {
            throw new Error('stumbled')
          }
        }),
    })
  })
  after(() => stated.close())

  const renewal = (
    first: Pick<Payment, 'id'>,
    providerReference: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Statement => ({
    type: 'payment',
    payment: { providerReference },
    status: 'paid',
    amount: 1_500n,
    currency: 'EUR',
    renews: { id: first.id },
    ...fields,
  })
  /** The charges of the same payable, oldest first. */
  const chargesOf = async ({ payable }: Pick<Payment, 'payable'>) =>
    (await stated.core.payments.list({ limit: 100 })).data
      .filter((one) => one.payable.id === payable.id)
      .toReversed()
  const subscribe = async (input = {}) =>
    stated.createPaid({ payable: { type: 'subscription', id: randomUUID() }, ...input })

  test('a renewal makes one payment: the first one’s payable, the stated money, an event of its own', async () => {
    const first = await subscribe({
      description: 'Monthly',
      customer: { email: 'a@example.com' },
      merchantAccount: 'acct',
      live: true,
    })
    const account = { merchantAccount: 'acct', live: true }
    await stated.say({ ...paid(first), ...account })
    const call = await stated.say(renewal(first, 'ch_2', account))
    assert.deepEqual(call.outcome, [
      { result: 'applied', type: 'payment:paid', detail: 'renewal_money_differs' },
    ])
    assert.deepEqual(stated.resultsOf(await stated.say(renewal(first, 'ch_2', account))), [
      'duplicate',
    ])
    const [, second, ...more] = await chargesOf(first)
    assert.ok(second)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [second.type, second.parentId, second.status, second.amount, second.currency],
      ['charge', null, 'paid', 1_500n, 'EUR'],
    )
    assert.deepEqual(
      [second.payable, second.description, second.customer, second.merchantAccount, second.live],
      [first.payable, 'Monthly', { email: 'a@example.com' }, 'acct', true],
    )
    assert.deepEqual([second.providerReference, second.checkoutReference], ['ch_2', null])
    assert.deepEqual(await stated.events(second), ['PaymentSucceeded'])
    assert.equal(call.paymentId, second.id)
    const { transitions } = await stated.details(second)
    assert.deepEqual(
      transitions.map(({ from, to }) => [from, to]),
      [['pending', 'paid']],
    )
  })

  test('a renewal of what was never paid is paid, and a person should see its amount', async () => {
    const first = await stated.create({ payable: { type: 'subscription', id: randomUUID() } })
    const call = await stated.say(renewal(first, 'ch_unpaid'))
    assert.deepEqual(
      [call.needsReview, call.outcome],
      [true, [{ result: 'applied', type: 'payment:paid', detail: 'first_payment_unpaid' }]],
    )
    assert.equal((await stated.details(first)).status, 'pending')
    assert.deepEqual(
      (await chargesOf(first)).map(({ status, amount }) => [status, amount]),
      [
        ['pending', 10_000n],
        ['paid', 1_500n],
      ],
    )
  })

  test('20 identical renewals at once: one payment, one event', async () => {
    const first = await subscribe()
    const calls = Array.from({ length: 20 }, () => statedCall([renewal(first, 'ch_20')]))
    const answers = await Promise.all(calls.map((call) => stated.core.receive(call)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    await idle(stated.core)
    const [, second, ...more] = await chargesOf(first)
    assert.deepEqual(more, [])
    assert.ok(second)
    assert.deepEqual(await stated.events(second), ['PaymentSucceeded'])
  })

  test('a renewal that comes before its first payment exists waits for it', async () => {
    const id = randomUUID()
    const call = await stated.say(renewal({ id }, 'ch_early'))
    assert.deepEqual([call.state, stated.resultsOf(call)], ['ignored', ['unknown_payment']])
    const payable = { type: 'subscription', id: randomUUID() }
    await stated.create({ id, payable })
    await idle(stated.core)
    assert.deepEqual(
      (await chargesOf({ payable })).map(({ status, amount }) => [status, amount]),
      [
        ['pending', 10_000n],
        ['paid', 1_500n],
      ],
    )
  })

  test('a renewal of what nobody knows waits for its subscription as well', async () => {
    const subscriptionReference = 'sub_awaited'
    const call = await stated.say(
      renewal({ id: randomUUID() }, 'ch_awaiting', { subscriptionReference }),
    )
    assert.deepEqual(stated.resultsOf(call), ['unknown_payment'])
    const first = await stated.create({ payable: { type: 'subscription', id: randomUUID() } })
    await stated.say({ ...paid(first), subscriptionReference })
    await requeueCallsWithPayment(stated.database.db)
    await idle(stated.core)
    assert.equal((await stated.core.calls.get(call.id))?.state, 'processed')
    assert.equal((await chargesOf(first)).length, 2)
  })

  test('what anybody can have written makes no renewal, what the payer has written does', async () => {
    const first = await subscribe()
    const money = { amount: 10_000n, currency: 'USD', renews: 'subscription' }
    const by = async (who: 'anybody' | 'payer') => {
      const claimed = { id: first.id, by: who }
      const call = await stated.say(renewal(first, `ch_by_${who}`, { ...money, claimed }))
      return [call.needsReview, ...stated.resultsOf(call)]
    }
    assert.deepEqual(await by('anybody'), [true, 'unknown_payment'])
    assert.deepEqual(await by('payer'), [false, 'applied'])
  })

  test('a renewal of what is no UUID is ignored, and keeps nobody’s sweep from its work', async () => {
    const call = await stated.say(renewal({ id: 'subscription 7' }, 'ch_odd'))
    assert.deepEqual(stated.resultsOf(call), ['invalid_reference'])
    await requeueCallsWithPayment(stated.database.db)
  })

  test('a renewal that fails and is paid in the end is one payment with both events', async () => {
    const first = await subscribe()
    await stated.say(renewal(first, 'ch_retry', { status: 'failed' }))
    await stated.say(renewal(first, 'ch_retry'))
    const late = await stated.say(renewal(first, 'ch_retry', { status: 'failed' }))
    assert.deepEqual(stated.resultsOf(late), ['already_paid'])
    const [, second, ...more] = await chargesOf(first)
    assert.deepEqual(more, [])
    assert.ok(second)
    assert.equal(second.status, 'paid')
    assert.deepEqual(await stated.events(second), ['PaymentFailed', 'PaymentSucceeded'])
  })

  test('a renewal by a checkout reference, of a first payment that is named by its own', async () => {
    const first = await subscribe({ checkoutReference: 'txn_1' })
    const fields = {
      payment: { checkoutReference: 'txn_2' },
      renews: { checkoutReference: 'txn_1' },
      checkoutReference: 'txn_2',
    }
    await stated.say(renewal(first, '', fields))
    await stated.say(renewal(first, '', fields))
    assert.deepEqual(
      (await chargesOf(first)).map(({ checkoutReference, status }) => [checkoutReference, status]),
      [
        ['txn_1', 'paid'],
        ['txn_2', 'paid'],
      ],
    )
  })

  for (const [what, fields, reason] of [
    ['another account', { merchantAccount: 'b' }, 'merchant_mismatch'],
    ['another mode', { live: false }, 'mode_mismatch'],
    ['no amount', { amount: undefined }, 'amount_mismatch'],
    ['no currency', { currency: undefined }, 'amount_mismatch'],
  ] as const) {
    test(`a renewal with ${what} makes nothing: ${reason}, for review`, async () => {
      const first = await subscribe({ live: true })
      const call = await stated.say(renewal(first, `ch_${reason}`, { live: true, ...fields }))
      assert.deepEqual([stated.resultsOf(call), call.needsReview], [[reason], true])
      assert.equal((await chargesOf(first)).length, 1)
    })
  }

  test('the mark of an unpaid first payment outlives a failed attempt, and a replay', async () => {
    failures = 1
    const first = await stated.create({ payable: { type: 'subscription', id: randomUUID() } })
    await stated.deliver(renewal(first, 'ch_stumbled', { amount: 10_000n, currency: 'USD' }))
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    await stated.retry()
    const marked = async () => {
      const found = await stated.core.calls.get(call.id)
      const [result] = found?.outcome ?? []
      return [found?.needsReview, result && 'detail' in result && result.detail]
    }
    assert.deepEqual(await marked(), [true, 'first_payment_unpaid'])
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.deepEqual(await marked(), [true, 'first_payment_unpaid'])
    await stated.say(paid(first))
    await stated.core.calls.replay(call.id)
    await idle(stated.core)
    assert.deepEqual(await marked(), [false, false])
  })

  test('a second subscription that our server says a payment began is shown to a person', async () => {
    const first = await stated.create({ payable: { type: 'subscription', id: randomUUID() } })
    await stated.say({ ...paid(first), subscriptionReference: 'sub_own' })
    const money = { amount: 10_000n, currency: 'USD' }
    const details = async (reference: string, subscriptionReference: string) => {
      const fields = { ...money, subscriptionReference }
      const call = await stated.say(renewal(first, reference, fields))
      return [call.needsReview, (call.outcome ?? []).map((one) => 'detail' in one && one.detail)]
    }
    assert.deepEqual(await details('ch_own', 'sub_own'), [false, [false]])
    assert.deepEqual(await details('ch_other', 'sub_other'), [true, ['another_subscription']])
  })

  test('a renewal whose first payment could not be asked for fails where it is not known', async () => {
    const first = await stated.create({ payable: { type: 'subscription', id: randomUUID() } })
    const of = (reference: string) =>
      renewal(first, reference, {
        renews: 'subscription',
        subscriptionReference: 'sub_asked',
        unanswered: { message: 'the provider is away' },
      })
    await stated.deliver(of('ch_asked'))
    const [call] = (await stated.core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    await stated.say({ ...paid(first), subscriptionReference: 'sub_asked' })
    await stated.retry()
    assert.equal((await stated.core.calls.get(call.id))?.state, 'processed')
    const known = await stated.say(of('ch_asked_2'))
    assert.equal(known.state, 'processed')
    // Whose it is is known: the provider would not say otherwise.
    const elsewhere = await stated.say({ ...of('ch_asked_3'), merchantAccount: 'elsewhere' })
    assert.deepEqual(stated.resultsOf(elsewhere), ['merchant_mismatch'])
    assert.equal((await chargesOf(first)).length, 3)
  })

  test('a refund of a renewal finds it by the provider’s id; one that came before it waits', async () => {
    const first = await subscribe()
    const payment = { providerReference: 'ch_refunded' }
    const euros = { id: '', currency: 'EUR' }
    await stated.say(refund(euros, 're_early', { payment, amount: 500n }))
    await stated.say(renewal(first, payment.providerReference))
    await requeueCallsWithPayment(stated.database.db)
    await idle(stated.core)
    await stated.say(refund(euros, 're_late', { payment, amount: 1_000n }))
    const [, second] = await chargesOf(first)
    assert.ok(second)
    assert.deepEqual(await stated.refunds(second), ['paid 500', 'paid 1000'])
    assert.deepEqual(await stated.refunds(first), [])
    assert.deepEqual(await stated.events(second), [
      'PaymentSucceeded',
      'PaymentRefunded',
      'PaymentRefunded',
    ])
  })
})
