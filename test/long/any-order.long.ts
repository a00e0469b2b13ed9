import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SignedCallback } from '../../src/gateways/gateway.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import type { Payment } from '../../src/payments/payment.ts'
import { openMoney, type MoneyBilling } from '../money/money-billing.ts'
import { providers } from '../money/providers.ts'
import { onPostgres } from '../support/databases.ts'

const histories = 40

/** What happens to a payment, at its provider and here; `choice` says which, or how much. */
const history = fc.array(
  fc.record({
    what: fc.constantFrom(
      ...(['pay', 'decline', 'expire', 'refund', 'give_back'] as const),
      ...(['deliver', 'deliver', 'repeat', 'ask', 'cancel'] as const),
    ),
    choice: fc.nat(999),
  }),
  { minLength: 4, maxLength: 16 },
)
type Step = (typeof history extends fc.Arbitrary<infer Steps> ? Steps : never)[number]

/** A payment, and what its provider knows of it. */
interface Story {
  readonly billing: MoneyBilling
  readonly payment: Payment
  state: 'open' | 'declined' | 'expired' | 'paid'
  /** Callbacks that have not come yet, and those that have. */
  readonly waiting: SignedCallback[]
  readonly delivered: SignedCallback[]
}

onPostgres((engine) => {
  for (const [name, start] of providers) {
    test(`${name}: whatever comes in whatever order, a payment ends as its provider has it, each event once`, async () => {
      const billing = await openMoney(engine, await start())
      const run = async (steps: readonly Step[]) => {
        const payment = await billing.createOpened()
        const story: Story = { billing, payment, state: 'open', waiting: [], delivered: [] }
        for (const step of steps) await happen(story, step)
        while (story.waiting.length > 0) await deliver(story, 0)
        for (const hours of [1, 30, 60]) await ask(story, hours)
        await assertEnd(story)
      }
      try {
        await fc.assert(fc.asyncProperty(history, run), { numRuns: histories })
      } finally {
        await billing.close()
        await billing.provider.close()
      }
    })
  }
})

async function happen(story: Story, { what, choice }: Step): Promise<void> {
  const { billing, payment, state, delivered } = story
  switch (what) {
    case 'pay':
    case 'decline':
    case 'expire':
      return change(story, what)
    case 'refund':
      return state === 'paid' ? refundByHand(story, choice) : undefined
    case 'give_back':
      return giveBack(story)
    case 'deliver':
      return deliver(story, choice)
    case 'repeat': {
      const again = delivered[choice % delivered.length]
      return again && billing.deliver(again)
    }
    case 'ask':
      return ask(story, 1 + (choice % 3))
    case 'cancel':
      return orRefused(billing.core.payments.cancel(payment.id))
  }
}

function change(story: Story, what: 'pay' | 'decline' | 'expire'): void {
  const { billing, payment, state } = story
  const canHappen = state === 'open' || (state === 'declined' && what === 'pay')
  if (!canHappen) return
  billing.provider[what](payment.id)
  story.state = ({ pay: 'paid', decline: 'declined', expire: 'expired' } as const)[what]
  // LiqPay has never heard of what nobody has tried to pay.
  const isUntold = what === 'expire' && billing.provider.gateway.name === 'liqpay'
  if (!isUntold) story.waiting.push(billing.provider.paymentCallback(payment.id))
}

function refundByHand({ billing: { provider }, payment, waiting }: Story, choice: number): void {
  const left = payment.amount - refundedOf(provider.refunds(payment.id))
  if (left === 0n) return
  const part = left > 3_000n && choice % 2 === 0 ? 3_000n : left
  provider.refundByHand(payment.id, part)
  waiting.push(provider.refundCallback(payment.id))
}

/** Our own refund, where we know by now that there is something to give back. */
async function giveBack({ billing, payment, waiting }: Story): Promise<void> {
  const { core, provider } = billing
  await orRefused(core.refunds.create(payment.id, { amount: 100n }))
  provider.completeRefunds(payment.id)
  if (refundedOf(provider.refunds(payment.id)) > 0n) {
    waiting.push(provider.refundCallback(payment.id))
  }
}

async function deliver({ billing, waiting, delivered }: Story, choice: number): Promise<void> {
  const [callback] = waiting.splice(choice % Math.max(1, waiting.length), 1)
  if (callback === undefined) return
  delivered.push(callback)
  await billing.deliver(callback)
}

async function ask({ billing, payment }: Story, hours: number): Promise<void> {
  await billing.pass(payment, hours)
  await billing.core.reconcile()
}

/** What is refused in our own words changes nothing. */
async function orRefused(work: Promise<unknown>): Promise<void> {
  await work.catch((error: unknown) => assert.ok(isQuittanceError(error), String(error)))
}

async function assertEnd({ billing, payment, state }: Story): Promise<void> {
  const { provider, core } = billing
  const { status, pollError, refunds } = await billing.details(payment)
  const events = await billing.events(payment)
  const counted = (type: string) => events.filter((one) => one === type).length
  const paid = refunds.filter((one) => one.status === 'paid')
  const { data: marked } = await core.calls.list({ paymentId: payment.id, needsReview: true })
  const details = marked.flatMap(({ outcome }) => outcome?.[0]?.detail)
  // What we had canceled, and a payer has paid all the same.
  assert.deepEqual([details.filter((one) => one !== 'paid_after_cancel'), pollError], [[], null])
  assert.equal(status === 'paid', state === 'paid')
  assert.equal(counted('PaymentSucceeded'), state === 'paid' ? 1 : 0)
  assert.ok(counted('PaymentFailed') <= 1 && counted('PaymentCanceled') <= 1)
  assert.equal(refundedOf(paid), refundedOf(provider.refunds(payment.id)))
  assert.equal(counted('PaymentRefunded'), paid.length)
  const first = events.find((type) => /Succeeded|Refunded/.test(type))
  assert.notEqual(first, 'PaymentRefunded', 'what went back was granted before')
}

function refundedOf(
  refunds: readonly { readonly status: string; readonly amount: bigint }[],
): bigint {
  return refunds.reduce((sum, { status, amount }) => (status === 'paid' ? sum + amount : sum), 0n)
}
