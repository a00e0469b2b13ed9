import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  chargeFor,
  contextFor,
  failureOf,
  hour,
  methodOf,
  now,
} from '../../../test/providers/kit.ts'
import { pendingPayment } from '../../../test/support/pending-payment.ts'
import { days } from '../../kernel/duration.ts'
import type { Payment } from '../../payments/payment.ts'
import { declineKindOf } from '../decline-kind.ts'
import type { Gateway } from '../gateway.ts'
import type { ChargeReply } from '../operations.ts'
import { fake } from './index.ts'
import { savedWith, type TestCard } from './test-card.ts'

const gateway: Gateway = fake
const savedFrom = '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e02'

const charged = (digits: number, fields: Partial<Payment> = {}) =>
  pendingPayment({ gateway: 'fake', amount: 1900n + BigInt(digits), handedAt: now, ...fields })
const methodFor = (card: TestCard) =>
  methodOf('fake', { providerReference: savedWith(savedFrom, card).reference })
const contextAt = (at: Date, signal = AbortSignal.timeout(30_000)) =>
  contextFor(fake, { enabled: 'on' }, { now: at, signal })

async function charge(payment: Payment, card: TestCard = 'good', at = now): Promise<ChargeReply> {
  const request = chargeFor(payment, { token: null, method: methodFor(card) })
  const reply = await gateway.chargeSavedCard?.(request, contextAt(at))
  assert.ok(reply)
  return reply
}

async function poll(payment: Payment, minutesLater: number) {
  const at = new Date(now.getTime() + minutesLater * 60_000)
  const asked = { ...payment, paymentMethodId: methodFor('good').id }
  const reply = await gateway.poll?.({ payment: asked, handedAt: now }, contextAt(at))
  assert.ok(reply)
  return [...reply.outcomes.map(said), reply.standing].join(', ')
}

type Outcome = ChargeReply['outcomes'][number]

/** `failed stolen_card`, or why nothing is decided. */
function said(outcome: Outcome): string {
  if (outcome.type === 'ignored') return outcome.detail ?? ''
  assert.ok(outcome.type === 'payment')
  return [outcome.status, outcome.declineCode].filter((one) => one !== undefined).join(' ')
}

const day = 24 * 60

for (const [digits, ending, answer, soon, later] of [
  [99, 'paid', 'paid', 'paid, paid', 'paid, paid'],
  [0, 'paid', 'paid', 'paid, paid', 'paid, paid'],
  [1, 'soft', 'failed insufficient_funds', 'failed insufficient_funds, unpaid'],
  [2, 'hard', 'failed stolen_card', 'failed stolen_card, unpaid'],
  [3, 'authentication', 'failed authentication_required', 'failed authentication_required, unpaid'],
  [4, 'confirm', 'confirm', 'confirm, open', 'confirm, unpaid'],
  [5, 'waiting', 'waiting', 'waiting, open', 'waiting, unpaid'],
  [11, 'late', 'late', 'late, undecided', 'paid, paid'],
  [12, 'bounced', 'bounced', 'bounced, undecided', 'failed insufficient_funds, unpaid'],
  [13, 'recovered', 'failed insufficient_funds', 'failed insufficient_funds, unpaid', 'paid, paid'],
] as const) {
  test(`an amount that ends in ${digits} is ${ending}, in the answer and by polls`, async () => {
    const payment = charged(digits)
    const { outcomes, providerReference, redirectUrl, needsPayer } = await charge(payment)
    assert.deepEqual(outcomes.map(said), [answer])
    assert.equal(providerReference, `fake_charge_${ending}_${payment.id}`)
    const page = `https://shop.example/billing/fake/checkout/${payment.id}`
    assert.equal(redirectUrl, ending === 'confirm' ? page : undefined)
    assert.equal(needsPayer, ending === 'waiting' ? true : undefined)
    const known = { ...payment, providerReference }
    assert.equal(await poll(known, 0), soon)
    assert.equal(await poll(known, day), later ?? soon)
  })

  test(`a card by the name of ${ending} ends every charge so`, async () => {
    const payment = charged(2)
    const { outcomes, providerReference = '' } = await charge(payment, ending)
    assert.deepEqual(outcomes.map(said), [answer])
    assert.equal(await poll({ ...payment, providerReference }, 0), soon)
  })
}

test('what the payer has to confirm is over when its own time is', async () => {
  const expiresAt = new Date(now.getTime() + hour)
  const payment = charged(4, { expiresAt })
  const { providerReference = '' } = await charge(payment)
  assert.equal(await poll({ ...payment, providerReference }, 59), 'confirm, open')
  assert.equal(await poll({ ...payment, providerReference }, 60), 'confirm, unpaid')
})

for (const [digits, code, standing] of [
  [6, 'provider_refused', 'refused, absent'],
  [7, 'provider_unreachable', 'lost, absent'],
  [8, 'provider_unreachable', 'paid, paid'],
] as const) {
  test(`an amount that ends in ${digits} gets no answer (${code}), and polls say: ${standing}`, async () => {
    const payment = charged(digits)
    assert.equal((await failureOf(charge(payment))).code, code)
    const checkout = digits === 6 ? 'refused' : 'unknown'
    assert.equal(await poll({ ...payment, checkout }, 0), standing)
  })
}

test('one that ends in 09 is made, and answers nobody before the time is up', async () => {
  const up = new AbortController()
  const payment = charged(9)
  const request = chargeFor(payment, { token: null, method: methodFor('good') })
  const ask = async () => gateway.chargeSavedCard?.(request, contextAt(now, up.signal))
  const asked = ask()
  up.abort()
  for (const one of [asked, ask()]) {
    assert.equal((await failureOf(one)).code, 'provider_unreachable')
  }
  assert.equal(await poll(payment, 0), 'paid, paid')
})

test('a charge whose answer nobody has written down was not made', async () => {
  for (const digits of [99, 1, 2, 4, 11]) {
    assert.equal(await poll(charged(digits), day), 'lost, absent')
  }
})

test('a request that was refused was not made, whatever its amount says', async () => {
  assert.equal(await poll(charged(8, { checkout: 'refused' }), day), 'refused, absent')
})

test('every second day is a payday', async () => {
  const at = (later: number) => new Date(now.getTime() + days(later))
  const results = await Promise.all(
    [0, 1, 2, 3].map(async (later) =>
      (await charge(charged(14), 'good', at(later))).outcomes.map(said),
    ),
  )
  assert.deepEqual(results.flat(), [
    'failed insufficient_funds',
    'paid',
    'failed insufficient_funds',
    'paid',
  ])
})

test('a card that was never saved is gone: no more with it', async () => {
  for (const providerReference of ['pm_1', `fake_card_refused_${savedFrom}`, 'fake_card_good_1']) {
    const method = methodOf('fake', { providerReference })
    const request = chargeFor(charged(99), { token: null, method })
    const reply = await gateway.chargeSavedCard?.(request, contextAt(now))
    assert.deepEqual(reply?.outcomes.map(said), ['failed no_such_card'])
  }
  assert.equal(declineKindOf(fake, 'no_such_card'), 'hard')
})

test('while it is switched off, no card is charged or removed', async () => {
  const off = contextFor(fake, { enabled: 'off' })
  const method = methodFor('good')
  const request = chargeFor(charged(99), { token: null, method })
  const code = 'gateway_not_configured'
  await assert.rejects(async () => gateway.chargeSavedCard?.(request, off), { code })
  await assert.rejects(async () => gateway.removeSavedCard?.({ method, token: null }, off), {
    code,
  })
  assert.equal(await gateway.removeSavedCard?.({ method, token: null }, contextAt(now)), undefined)
})
