import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { EventOf } from '../../src/events/catalogue.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { callDetailsView } from '../../src/wire/call.ts'
import { paymentDetailsView } from '../../src/wire/payment-details.ts'
import { idle, until } from '../support/billing.ts'
import { repairEvents } from '../../src/upkeep/repair-events.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import {
  statedCall,
  stating as statingGateway,
  type Statement,
} from '../support/stating-gateway.ts'

onAnyDatabase((engine) => {
  let stated: StatedBilling
  let isClosed = false
  /** The provider's API no longer tells what its callback told. */
  let isForgotten = false
  const forgetful = {
    ...statingGateway,
    name: 'forgetful',
    interpret: (...input: Parameters<typeof statingGateway.interpret>) =>
      isForgotten ? Promise.resolve([]) : statingGateway.interpret(...input),
  }
  /** What listeners in the transaction, and queued ones, heard of disputes. */
  const heard: EventOf<'PaymentDisputed'>[] = []
  const queued: EventOf<'PaymentDisputed'>[] = []
  const cards: EventOf<'PaymentMethodAttached'>[] = []
  before(async () => {
    stated = await openStated(engine, {
      extraGateways: [statingGateway, forgetful],
      billing: { encryptionKey: randomBytes(32).toString('base64') },
      listen: ({ core }) => {
        core.on('PaymentDisputed', 'fails', () => {
          if (isClosed) throw new Error('no stock')
        })
        core.on('PaymentDisputed', 'hears', (event, { afterCommit }) =>
          afterCommit(() => heard.push(event)),
        )
        core.on('PaymentDisputed', 'hearsLater', (event) => void queued.push(event), {
          queued: true,
        })
        core.on('PaymentMethodAttached', 'keepsCard', (event) => void cards.push(event), {
          queued: true,
        })
      },
    })
  })
  after(() => stated.close())

  const dispute = (
    { id }: Pick<Payment, 'id'>,
    reference: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): Statement => ({ type: 'dispute', payment: { id }, reference, status: 'open', ...fields })
  /** What listeners heard of the disputes of a payment: status and payment's status of each. */
  const toldOf = (payment: Payment, events: readonly EventOf<'PaymentDisputed'>[] = heard) =>
    events
      .filter((event) => event.payment.id === payment.id)
      .map((event) => `${event.dispute.status} ${event.payment.status}`)
  const disputesOf = async (payment: Payment) =>
    (await stated.details(payment)).disputes.map(({ providerReference, status, amount }) =>
      [providerReference, status, amount].join(' '),
    )

  test('a dispute is recorded once beside its payment, for review; its event fires once, nothing moves', async () => {
    const payment = await stated.createPaid()
    const stating = dispute(payment, 'dp_1', { amount: 10_000n, currency: 'USD' })
    const call = await stated.say(stating)
    assert.deepEqual(call.outcome, [{ result: 'applied', type: 'dispute:open' }])
    assert.deepEqual(
      [call.state, call.needsReview, call.paymentId],
      ['processed', true, payment.id],
    )
    assert.deepEqual(stated.resultsOf(await stated.say(stating)), ['duplicate'])
    const { disputes, status, transitions } = await stated.details(payment)
    assert.deepEqual(
      disputes.map(({ gateway, paymentId, amount, currency }) => [
        gateway,
        paymentId,
        amount,
        currency,
      ]),
      [['stating', payment.id, 10_000n, 'USD']],
    )
    assert.deepEqual([status, transitions.length], ['paid', 1])
    assert.deepEqual(await stated.events(payment), ['PaymentSucceeded', 'PaymentDisputed'])
    const event = heard.find((one) => one.payment.id === payment.id)
    assert.deepEqual(event?.dispute, disputes[0])
    assert.equal(event?.dedupKey, `dispute:open:${disputes[0]?.id}`)
    assert.deepEqual(toldOf(payment), ['open paid'])
    await until(() => toldOf(payment, queued).length > 0, { what: 'the queued one hears' })
    assert.deepEqual(
      queued.filter((one) => one.payment.id === payment.id).map((one) => one.dispute),
      disputes,
    )
    assert.ok(stated.lines.some((line) => line['call'] === call.id && line['level'] === 40))
  })

  test('ten reports of one dispute at once fire one event', async () => {
    const payment = await stated.createPaid()
    const reports = Array.from({ length: 10 }, () => stated.deliver(dispute(payment, 'dp_ten')))
    await Promise.all(reports)
    await idle(stated.core)
    assert.deepEqual(toldOf(payment), ['open paid'])
  })

  test('a dispute that its retried call no longer states is dispatched by the repair of events', async () => {
    const { core, database, runtime } = stated
    const payment = await stated.create({ gateway: 'forgetful' })
    await stated.sayBy('forgetful', {
      type: 'payment',
      payment,
      status: 'paid',
      amount: 10_000n,
      currency: 'USD',
    })
    isClosed = true
    assert.equal(
      (await core.receive(statedCall([dispute(payment, 'dp_forgotten')], 'forgetful'))).status,
      200,
    )
    const [call] = (await core.calls.list({ limit: 1 })).data
    assert.ok(call)
    await stated.attempted(call, 1)
    ;[isClosed, isForgotten] = [false, true]
    await stated.retry()
    isForgotten = false
    assert.deepEqual(await disputesOf(payment), ['dp_forgotten open '])
    assert.deepEqual(toldOf(payment), [])
    const open = (await core.reviews.list({ state: 'open', limit: 1 })).data
    assert.deepEqual(
      open.map(({ reason, paymentId }) => [reason, paymentId]),
      [['dispute_open', payment.id]],
      'a person still looks at it',
    )
    await sql`update billing.disputes set updated_at = now() - interval '1 hour'`.execute(
      database.db,
    )
    await repairEvents(await runtime.registeredContext())
    await until(() => toldOf(payment).length > 0, { what: 'the dispute is heard of' })
    assert.deepEqual(toldOf(payment), ['open paid'])
  })

  test('a card that is saved, then removed: an event each; its token is shown nowhere, and gone', async () => {
    const token = 'tok_4111-secret-0123456789'
    const payment = await stated.create()
    const card = (fields: object): Statement => ({
      type: 'payment_method',
      status: 'attached',
      reference: 'pm_1',
      payment: { id: payment.id },
      ...fields,
    })
    const saved = await stated.say(paid(payment), card({ token, details: { brand: 'visa' } }))
    await until(() => cards.length > 0, { what: 'the queued listener is told' })
    const { status, details, hasToken } = cards[0]?.paymentMethod ?? {}
    assert.deepEqual([status, details, hasToken], ['attached', { brand: 'visa' }, true])
    const received = (await stated.core.calls.get(saved.id)) ?? assert.fail()
    const shown = [
      cards,
      paymentDetailsView(await stated.details(payment)),
      await stated.core.events.list({ limit: 100 }),
      callDetailsView(received),
      stated.lines,
    ]
    const write = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)
    for (const one of shown) {
      const text = JSON.stringify(one, write)
      assert.ok(!text.includes(token) && !text.includes('tok_4111'))
    }
    await stated.say(card({ status: 'detached' }))
    await stated.say(card({ status: 'detached' }))
    const late = await stated.say(card({ token }))
    assert.deepEqual([late.state, stated.resultsOf(late)], ['ignored', ['already_settled']])
    const { paymentMethods } = await stated.details(payment)
    assert.deepEqual(
      paymentMethods.map((one) => [one.status, one.hasToken]),
      [['detached', false]],
    )
    assert.deepEqual((await stated.events(payment)).toSorted(), [
      'PaymentMethodAttached',
      'PaymentMethodDetached',
      'PaymentSucceeded',
    ])
  })
})
