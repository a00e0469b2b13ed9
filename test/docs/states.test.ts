import assert from 'node:assert/strict'
import test from 'node:test'
import { callStates } from '../../src/events/webhook-call.ts'
import { paymentEventType } from '../../src/events/dedup-key.ts'
import { ignoredReasons, type PaymentOutcome } from '../../src/payments/outcome.ts'
import { disputeStatuses } from '../../src/payments/dispute.ts'
import { paymentStatuses, type PaymentStatus } from '../../src/payments/payment.ts'
import { decideRefund } from '../../src/payments/refund-transition.ts'
import { decide, type Decision } from '../../src/payments/transition.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { read } from '../tidy/source-files.ts'
import { statesUnder } from './diagrams.ts'
import { codeIn, namesIn, section, tableRows } from './markdown.ts'

const page = { path: 'docs/states.md', text: read('docs/states.md') }

const charge = pendingPayment({ id: '0198f0aa-4b1c-7cc3-9d52-2f1f3d5a6e01', gateway: 'fake' })
const { amount, currency } = charge
const about = { type: 'payment', payment: { id: charge.id } } as const

/** The columns of the table: what a callback may state. */
const paid: PaymentOutcome = { ...about, status: 'paid', amount, currency }
const statements: readonly PaymentOutcome[] = [
  paid,
  { ...about, status: 'paid', amount: amount + 1n, currency },
  { ...about, status: 'failed' },
  { ...about, status: 'canceled' },
]

/** What the table says in the cell of a decision. */
function cellOf(status: PaymentStatus, outcome: PaymentOutcome): string {
  const decision = decide({ ...charge, status }, charge.gateway, outcome)
  const event = paymentEventType(outcome.status)
  if (decision.kind === 'ignore') return reasonOf(decision)
  return decision.kind === 'move' ? `\`${outcome.status}\`: ${event}` : `stays: ${event}`
}

function reasonOf({ reason, review }: Decision & { readonly kind: 'ignore' }): string {
  return `\`${reason}\`${review ? ', a review' : ''}`
}

test('docs/states.md shows what the state table decides for every pair', () => {
  const [, ...rows] = tableRows(section(page.text, 'Payments'))
  const decided = paymentStatuses.map((status) => [
    `\`${status}\``,
    ...statements.map((outcome) => cellOf(status, outcome)),
  ])
  assert.deepEqual(rows, decided)
})

/** The arrows of the diagram under a heading; not the one to where it begins. */
function drawn(heading: string) {
  const arrows = statesUnder(page.path, page.text, heading).filter(({ from }) => from !== '[*]')
  return arrows.map(({ from, to }) => [from, to])
}

test('the diagram of payments has an arrow for every move, and no other', () => {
  const moves = paymentStatuses.flatMap((status) =>
    statements
      .filter((outcome) => decide({ ...charge, status }, 'fake', outcome).kind === 'move')
      .map((outcome) => [status, outcome.status]),
  )
  assert.deepEqual(drawn('Payments'), moves)
})

test('the diagram of refunds has an arrow for every move, and no other', () => {
  const moves = paymentStatuses.flatMap((from) =>
    paymentStatuses.filter((to) => decideRefund(from, to).kind === 'move').map((to) => [from, to]),
  )
  assert.deepEqual(drawn('Refunds'), moves)
})

/** Only money that went back is an event. */
function refundCellOf(from: PaymentStatus, to: PaymentStatus): string {
  const decision = decideRefund(from, to)
  if (decision.kind === 'ignore') return reasonOf(decision)
  const event = to === 'paid' ? ': PaymentRefunded' : ''
  return decision.kind === 'move' ? `\`${to}\`${event}` : `stays${event}`
}

test('docs/states.md shows what becomes of a refund for every pair', () => {
  const [heading, ...rows] = tableRows(section(page.text, 'Refunds'))
  assert.deepEqual(heading, ['The refund is', ...paymentStatuses])
  const decided = paymentStatuses.map((from) => [
    `\`${from}\``,
    ...paymentStatuses.map((to) => refundCellOf(from, to)),
  ])
  assert.deepEqual(rows, decided)
})

test('docs/states.md explains every state of a dispute, and no other', () => {
  assert.deepEqual(namesIn(section(page.text, 'Disputes')), [...disputeStatuses])
})

test('docs/states.md explains every reason, and no other', () => {
  assert.deepEqual(namesIn(section(page.text, 'Reasons')), [...ignoredReasons])
})

/** A way to meet each reason that `decide` gives; what the payment is besides, and what is stated. */
const met: readonly (readonly [Partial<typeof charge>, Partial<PaymentOutcome>])[] = [
  [{ gateway: 'other' }, {}],
  [{ merchantAccount: 'acct_1' }, {}],
  [{ live: true }, { live: false }],
  [{ checkoutReference: 'cs_1' }, { checkoutReference: 'cs_2' }],
  [{}, { payment: { checkoutReference: 'cs_1' }, checkoutReference: 'cs_1' }],
  [{ providerReference: 'pi_1' }, { providerReference: 'pi_2' }],
  [{ providerReference: 'pi_1', status: 'paid' }, { providerReference: 'pi_2' }],
]

test('docs/states.md says which of them a person must look at', () => {
  const [, ...rows] = tableRows(section(page.text, 'Reasons'))
  const said = new Map(rows.map(([reason = '', , review = '']) => [codeIn(reason)[0], review]))
  for (const [payment, stated] of met) {
    const decided = (status: 'paid' | 'failed') =>
      decide({ ...charge, ...payment }, 'fake', { ...paid, status, ...stated })
    const [asPaid, asFailed] = [decided('paid'), decided('failed')]
    assert.ok(asPaid.kind === 'ignore' && asFailed.kind === 'ignore')
    const sameReason = asPaid.reason === asFailed.reason
    assert.deepEqual([asPaid.review, asFailed.review], [true, false])
    assert.equal(said.get(asPaid.reason), sameReason ? 'if paid' : 'always', asPaid.reason)
  }
})

test('docs/states.md explains every state of a call, and no other', () => {
  assert.deepEqual(namesIn(section(page.text, 'Calls')), [...callStates])
})
