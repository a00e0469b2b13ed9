import { basename } from 'node:path'
import { callStates } from '../../src/events/webhook-call.ts'
import { paymentEventType } from '../../src/events/dedup-key.ts'
import { type PaymentOutcome } from '../../src/payments/outcome.ts'
import { disputeStatuses } from '../../src/payments/dispute.ts'
import { checkoutStates, paymentStatuses, type PaymentStatus } from '../../src/payments/payment.ts'
import {
  ignoredReasons,
  reasons,
  reviewReasons,
  type ReviewReason,
} from '../../src/payments/reasons.ts'
import { inWords } from '../../src/payments/review-words.ts'
import { decideRefund } from '../../src/payments/refund-transition.ts'
import { decide, type Decision } from '../../src/payments/transition.ts'
import { subscriptionStatuses } from '../../src/subscriptions/subscription.ts'
import { pendingPayment } from '../support/pending-payment.ts'
import { code, type Table } from './table.ts'

const charge = pendingPayment({ gateway: 'fake' })
const { amount, currency } = charge
const about = { type: 'payment', payment: { id: charge.id } } as const

/** The columns of the table: what a callback may state. */
const statements: readonly PaymentOutcome[] = [
  { ...about, status: 'paid', amount, currency },
  { ...about, status: 'paid', amount: amount + 1n, currency },
  { ...about, status: 'failed' },
  { ...about, status: 'canceled' },
]

const decisionOf = (status: PaymentStatus, outcome: PaymentOutcome) =>
  decide({ ...charge, status }, charge.gateway, outcome)

/** What the table says in the cell of a decision. */
function cellOf(status: PaymentStatus, outcome: PaymentOutcome): string {
  const decision = decisionOf(status, outcome)
  const event = paymentEventType(outcome.status)
  if (decision.kind === 'ignore') return reasonOf(decision)
  return decision.kind === 'move' ? `${code(outcome.status)}: ${event}` : `stays: ${event}`
}

function reasonOf({ reason, review }: Decision & { readonly kind: 'ignore' }): string {
  return `${code(reason)}${review ? ', a review' : ''}`
}

/** Only money that went back is an event. */
function refundCellOf(from: PaymentStatus, to: PaymentStatus): string {
  const decision = decideRefund(from, to)
  if (decision.kind === 'ignore') return reasonOf(decision)
  const event = to === 'paid' ? ': PaymentRefunded' : ''
  return decision.kind === 'move' ? `${code(to)}${event}` : `stays${event}`
}

type Move = readonly [from: string, to: string]

/** Every move, in the order in which the diagrams draw them. */
export const paymentMoves: readonly Move[] = paymentStatuses.flatMap((status) =>
  statements
    .filter((outcome) => decisionOf(status, outcome).kind === 'move')
    .map((outcome): Move => [status, outcome.status]),
)
export const refundMoves: readonly Move[] = paymentStatuses.flatMap((from) =>
  paymentStatuses
    .filter((to) => decideRefund(from, to).kind === 'move')
    .map((to): Move => [from, to]),
)

const page = 'docs/states.md'
const operations = 'docs/5-operations.md'

/** What a renewal that counts may be marked with. */
const ofRenewals = [
  'first_payment_unpaid',
  'another_subscription',
  'renewal_money_differs',
] as const satisfies readonly ReviewReason[]

/** What a review says of a reason, with money as an example, and what to do. */
function reviewRows(
  names: readonly ReviewReason[],
  shown: (reason: ReviewReason) => string = code,
): Table['rows'] {
  const rows = names.map((reason) => {
    const { step } = reasons[reason]
    const [first = '', ...rest] = inWords({ reason, detail: null, ...example })
    const commands = step.replaceAll(/\((quittance \w+ ID)\)/g, '(`$1`)')
    return [shown(reason), `${first.toUpperCase()}${rest.join('')}.`, commands]
  })
  return [['Reason', 'A review says, for example', 'What to do'], ...rows]
}
/** Where the docs say more, from the page for operators. */
const linked = (reason: ReviewReason) =>
  `[${code(reason)}](${reasons[reason].docs.replace(basename(operations), '')})`

const example = {
  stated: { reference: null, amount: 2_500n, currency: 'EUR' },
  expected: { amount: 2_000n, currency: 'EUR' },
}

/** A row for each name, of which the page itself says the rest. */
function explained(names: readonly string[], heading: readonly string[]): Table['rows'] {
  return [heading, ...names.map((name) => [code(name), ...heading.slice(1).map(() => undefined)])]
}

export const stateTables: readonly Table[] = [
  {
    page,
    under: 'Payments',
    rows: [
      ['The payment is', 'paid, money fits', 'paid, money differs', 'failed', 'canceled'],
      ...paymentStatuses.map((status) => [
        code(status),
        ...statements.map((outcome) => cellOf(status, outcome)),
      ]),
    ],
  },
  {
    page,
    under: 'Refunds',
    rows: [
      ['The refund is', ...paymentStatuses],
      ...paymentStatuses.map((from) => [
        code(from),
        ...paymentStatuses.map((to) => refundCellOf(from, to)),
      ]),
    ],
  },
  {
    page,
    under: 'Disputes',
    rows: explained(disputeStatuses, ['The dispute is', 'Means', 'Review']),
  },
  {
    page,
    under: 'Reasons',
    rows: [
      ['Reason', 'Means', 'Review'],
      ...ignoredReasons.map((reason) => {
        const { callback, reviewed } = reasons[reason]
        return [code(reason), callback, reviewed]
      }),
    ],
  },
  { page, under: 'Renewals', rows: reviewRows(ofRenewals) },
  {
    page: operations,
    under: 'Calls that need a person',
    rows: reviewRows(reviewReasons, linked),
  },
  { page, under: 'Calls', rows: explained(callStates, ['State', 'Means']) },
  {
    page: 'docs/7-money.md',
    under: 'States of a checkout',
    rows: explained(checkoutStates, ['State', 'Means', 'Do']),
  },
  {
    page: 'docs/13-subscriptions.md',
    under: 'States',
    rows: explained(subscriptionStatuses, ['Status', 'Means', 'Access']),
  },
]
