import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { until } from '../support/until.ts'
import {
  sign,
  startJourneys,
  type CallView,
  type Change,
  type PaymentView,
  type WayforpayOrder,
} from './journey-service.ts'

// Whole journeys: real signed callbacks over HTTP, a service as a process, PostgreSQL. What is
// asserted is what a merchant sees in the end: the rows, and the exact list of events.

let journeys: Awaited<ReturnType<typeof startJourneys>>
before(async () => {
  journeys = await startJourneys()
})
after(() => journeys.close())

/** Where gateways differ in what a journey needs, or in how it ends. */
interface Particular {
  /** Another merchant's callback with a right signature; else his signature is another one. */
  readonly otherMerchant?: { readonly change: Change; readonly reason: string }
  /** What the provider's API says at this point of the journey. */
  readonly api?: (payment: PaymentView, order: WayforpayOrder) => void
  /** Events of the document that a renewal comes with: they follow by themselves. */
  readonly documents?: readonly string[]
}

const particulars: Readonly<Record<string, Particular>> = {
  stripe: {
    otherMerchant: {
      change: { merchantAccount: 'acct_1Other00000000000' },
      reason: 'merchant_mismatch',
    },
    documents: ['InvoiceIssued', 'InvoicePaid'],
  },
  monobank: {
    otherMerchant: {
      change: { checkoutReference: 'p2_of_somebody_else' },
      reason: 'checkout_reference_mismatch',
    },
  },
  liqpay: {
    otherMerchant: {
      change: { merchantAccount: 'i00000000099' },
      reason: 'merchant_mismatch',
    },
  },
  wayforpay: {
    api: (payment, order) => journeys.wayforpay.orders.set(payment.id, order),
  },
  hutko: {
    otherMerchant: { change: { merchantAccount: '1700099' }, reason: 'merchant_mismatch' },
  },
}

/** The amount of every payment, and its halves. */
const whole = 15_075
const half = 7_537
const rest = whole - half

for (const gateway of builtin.filter(({ verification }) => verification === 'signature')) {
  describe(gateway.name, () => declareJourneys(gateway, particulars[gateway.name] ?? {}))
}

function declareJourneys(gateway: Gateway, particular: Particular): void {
  const { name } = gateway
  const has = (scenario: string) => gateway.signer?.scenarios[scenario] !== undefined
  const checkoutOf = (id: string) => gateway.signer?.checkoutReferenceOf?.(id)
  const create = (id = newUuid()) =>
    journeys.create(gateway, { id, checkout_reference: checkoutOf(id) })

  async function travel(payment: PaymentView, ...scenarios: readonly string[]) {
    for (const scenario of scenarios) {
      particular.api?.(payment, orderAfter(scenario))
      await journeys.send(gateway, { scenario, payment })
    }
    return journeys.payment(payment.id)
  }

  test(`${name}: declined, then paid`, async () => {
    const payment = await travel(await create(), 'declined', 'paid')
    assertEnd(payment, 'paid', ['PaymentFailed', 'PaymentSucceeded'])
  })

  test(`${name}: still pending, then paid`, async () => {
    const created = await create()
    assertEnd(await travel(created, 'pending'), 'pending', [])
    const payment = await travel(created, 'paid')
    assertEnd(payment, 'paid', ['PaymentSucceeded'])
    assert.equal(payment.events[0]?.dedup_key, `payment:paid:${payment.id}`)
  })

  test(`${name}: the same callback five times at once, and once more later`, async () => {
    const created = await create()
    const callback = sign(gateway, { scenario: 'paid', payment: created })
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => journeys.post(name, callback)),
    )
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
    await journeys.idle()
    assertEnd(await travel(created, 'paid'), 'paid', ['PaymentSucceeded'])
    const calls = await journeys.calls(`payment_id=${created.id}`)
    assert.equal(calls.length, 6)
  })

  test(`${name}: out of order, a decline after the payment changes nothing`, async () => {
    const over = ['expired', 'canceled'].filter(has)
    const payment = await travel(await create(), 'paid', 'declined', 'pending', ...over)
    assertEnd(payment, 'paid', ['PaymentSucceeded'])
  })

  for (const scenario of ['expired', 'canceled'].filter(has)) {
    test(`${name}: ${scenario}, and paid after all`, async () => {
      const created = await create()
      assertEnd(await travel(created, scenario), 'canceled', ['PaymentCanceled'])
      assertEnd(await travel(created, 'paid'), 'paid', ['PaymentCanceled', 'PaymentSucceeded'])
    })
  }

  test(`${name}: refunded in two parts, each reported twice`, async () => {
    const parts = ['refunded_half', 'refunded_half', 'refunded_rest', 'refunded_rest']
    const payment = await travel(await create(), 'paid', ...parts)
    assertEnd(payment, 'paid', ['PaymentSucceeded', 'PaymentRefunded', 'PaymentRefunded'])
    assertRefunds(payment, [half, rest])
  })

  test(`${name}: refunded as a whole, and the payment reported once more`, async () => {
    const payment = await travel(await create(), 'paid', 'refunded', 'refunded', 'paid')
    assertEnd(payment, 'paid', ['PaymentSucceeded', 'PaymentRefunded'])
    assertRefunds(payment, [whole])
  })

  test(`${name}: refunded before it is known to be paid`, async () => {
    const payment = await travel(await create(), 'refunded', 'paid')
    assert.equal(payment.status, 'paid')
    assertRefunds(payment, [whole])
    assert.deepEqual(eventsOf(payment).toSorted(), ['PaymentRefunded', 'PaymentSucceeded'])
  })

  test(`${name}: paid with one unit less, one more, or another currency`, async () => {
    const created = await create()
    for (const change of [{ amount: 15_074n }, { amount: 15_076n }, { currency: 'USD' }]) {
      await journeys.send(gateway, { scenario: 'paid', payment: created, change })
    }
    assertEnd(await journeys.payment(created.id), 'pending', [])
    const calls = await journeys.calls(`payment_id=${created.id}`)
    assert.equal(calls.length, 3)
    assertIgnored(calls, 'amount_mismatch')
  })

  test(`${name}: paid to another merchant`, async () => {
    const created = await create()
    const { otherMerchant } = particular
    if (otherMerchant === undefined) {
      const stranger = { scenario: 'paid', payment: created, owner: 'stranger' }
      const answer = await journeys.post(name, sign(gateway, stranger))
      assert.equal(answer.status, 403)
    } else {
      const { change, reason } = otherMerchant
      await journeys.send(gateway, { scenario: 'paid', payment: created, change })
      assertIgnored(await journeys.calls(`payment_id=${created.id}`), reason)
    }
    assertEnd(await journeys.payment(created.id), 'pending', [])
  })

  test(`${name}: paid before the payment is there`, async () => {
    const id = newUuid()
    const account = (await create()).merchant_account
    const change = { checkoutReference: checkoutOf(id) ?? null, merchantAccount: account }
    await journeys.send(gateway, { scenario: 'paid', payment: id, change })
    await create(id)
    await journeys.idle()
    assertEnd(await journeys.payment(id), 'paid', ['PaymentSucceeded'])
  })

  if (has('card_saved')) {
    test(`${name}: a card is saved, twice reported`, async () => {
      const payment = await travel(await create(), 'paid', 'card_saved', 'card_saved')
      const seen = (await journeys.events('PaymentMethodAttached')).filter(({ dedup_key }) =>
        dedup_key.startsWith(`payment_method:attached:${name}/`),
      )
      assert.equal(seen.length, 1)
      assert.equal(payment.status, 'paid')
      if (!has('card_removed')) return
      await travel(payment, 'card_removed', 'card_removed')
      const removed = (await journeys.events('PaymentMethodDetached')).filter(({ dedup_key }) =>
        dedup_key.startsWith(`payment_method:detached:${name}/`),
      )
      assert.equal(removed.length, 1)
    })
  }

  if (has('disputed')) {
    test(`${name}: disputed, which a person should see`, async () => {
      const payment = await travel(await create(), 'paid', 'disputed', 'disputed', 'paid')
      assertEnd(payment, 'paid', ['PaymentSucceeded', 'PaymentDisputed'])
      const [dispute, ...others] = payment.disputes
      assert.deepEqual([dispute?.status, others], ['open', []])
      assert.equal(payment.events[1]?.dedup_key, `dispute:open:${dispute?.id}`)
      const calls = await journeys.calls(`payment_id=${payment.id}&needs_review=true`)
      assert.deepEqual(
        calls.flatMap(({ outcome }) => outcome.map(({ type }) => type)),
        ['dispute:open', 'dispute:open'],
      )
      if (!has('dispute_won')) return
      assertEnd(await travel(payment, 'dispute_won', 'dispute_won'), 'paid', [
        'PaymentSucceeded',
        'PaymentDisputed',
        'PaymentDisputed',
      ])
    })
  }

  if (has('renewed')) {
    test(`${name}: renewed by the provider, which makes a payment of its own`, async () => {
      const payable = { type: 'subscription', id: `${name}-7` }
      const id = newUuid()
      const fields = { id, payable, checkout_reference: checkoutOf(id) }
      const first = await journeys.create(gateway, fields)
      await travel(first, 'paid')
      const callback = sign(gateway, { scenario: 'renewed', payment: first })
      for (let times = 0; times < 2; times += 1) {
        assert.equal((await journeys.post(name, callback)).status, 200)
        await journeys.idle()
      }
      assertEnd(await journeys.payment(id), 'paid', ['PaymentSucceeded'])
      const all = (await journeys.payments(gateway)).filter(
        (payment) => payment.payable.id === payable.id,
      )
      assert.equal(all.length, 2)
      const renewal = all.find((payment) => payment.id !== id)
      assert.ok(renewal)
      assert.equal(renewal.amount, whole)
      const events = ['PaymentSucceeded', ...(particular.documents ?? [])]
      await until(
        async () => eventsOf(await journeys.payment(renewal.id)).length >= events.length,
        { what: 'its document is there' },
      )
      assertEnd(await journeys.payment(renewal.id), 'paid', events)
    })
  }
}

function orderAfter(scenario: string): WayforpayOrder {
  const refunded: Readonly<Record<string, string>> = {
    refunded_half: '75.37',
    refunded_rest: '150.75',
    refunded: '150.75',
  }
  const refundAmount = refunded[scenario] ?? '0'
  return scenario === 'card_saved'
    ? { refundAmount, recToken: 'a-token-of-the-api' }
    : { refundAmount }
}

function eventsOf(payment: PaymentView): readonly string[] {
  return payment.events.map(({ type }) => type).filter((type) => !type.includes('Method'))
}

function assertEnd(payment: PaymentView, status: string, events: readonly string[]): void {
  assert.equal(payment.status, status)
  assert.deepEqual(eventsOf(payment), events)
}

function assertRefunds(payment: PaymentView, amounts: readonly number[]): void {
  assert.deepEqual(
    payment.refunds.map(({ amount, status, currency, payable }) => [
      amount,
      status,
      currency,
      payable.id,
    ]),
    amounts.map((amount) => [amount, 'paid', 'UAH', '42']),
  )
}

function assertIgnored(calls: readonly CallView[], reason: string): void {
  assert.ok(calls.length > 0)
  assert.deepEqual(
    calls.map(({ state, needs_review, outcome }) => [state, needs_review, outcome[0]?.reason]),
    calls.map(() => ['ignored', true, reason]),
  )
}
