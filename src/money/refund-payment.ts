import { z } from 'zod'
import { insertPayment, findPayment, lockPayments } from '../database/payments.ts'
import { refundsOf } from '../database/refunds.ts'
import { recordRefundAnswer } from '../database/checkouts.ts'
import type { RefundReply } from '../gateways/operations.ts'
import { minutes } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { isUuid } from '../kernel/ids.ts'
import { largestAmount } from '../kernel/money.ts'
import type { Payment } from '../payments/payment.ts'
import { insist } from '../processing/insist.ts'
import { requireOperation } from '../processing/plan-checkout.ts'
import { refundRow } from '../processing/refund-row.ts'
import { askProvider, failureText, gatewayOf, isRefusal, type Operating } from './operating.ts'
import { requireCharge } from './poll-payment.ts'
import { recordRefund } from './settle-refunds.ts'

/** What a caller gives to refund a payment. */
export interface CreateRefundInput {
  /** A UUID of the caller's: makes the call repeatable. */
  readonly id?: string | undefined
  /** Minor units; all that is left by default. */
  readonly amount?: bigint | number | undefined
  /** For the provider and the operator: free text. */
  readonly reason?: string | undefined
}

const reasonText = z
  .string()
  .min(1)
  .max(500)
  .refine((text) => !/\p{Cc}/u.test(text))

/** The provider is asked what became of a refund for the first time after so long. */
const firstPollAfter = minutes(2)

/**
 * Refunds a paid payment, in whole or in part: its row first, then one request to the provider with
 * no transaction open, then what came of it. With an id of the caller's a repeated call gives the
 * same refund and asks nobody. Errors: `payment_not_found`, `payment_not_refundable`,
 * `refund_invalid`, `refund_exists`, `refund_too_large`, `operation_unsupported`,
 * `gateway_not_configured`; `refund_refused` where the provider said no, `refund_unknown` where
 * nobody knows: its row stays pending, and a poll finds out.
 */
export async function refundPayment(
  paymentId: string,
  input: CreateRefundInput,
  operating: Operating,
): Promise<Payment> {
  const charge = await requireCharge(paymentId, operating)
  const found = gatewayOf(charge, operating)
  requireOperation(found, 'refund')
  const wanted = readInput(input, operating)
  const begun = await insist(() => begin(charge, wanted, operating), operating.processing.random)
  if (!begun.isNew) return begun.refund
  let reply: RefundReply
  try {
    reply = await request(begun, operating)
  } catch (error) {
    throw await recordFailure(begun.refund, operating, error)
  }
  await recordAnswer(begun.refund, null, operating)
  await recordRefund(begun.refund, reply, { operating, cause: 'refund' })
  if (reply.status === 'failed') {
    const said = `the provider refused it${reply.code === undefined ? '' : ` (${reply.code})`}`
    throw refused(begun.refund, said, reply.code)
  }
  return current(begun.refund, operating)
}

interface Wanted {
  readonly id: string
  readonly amount: bigint | undefined
  readonly reason: string | null
}

function readInput(input: CreateRefundInput, { processing }: Operating): Wanted {
  const invalid = (text: string) => new QuittanceError('refund_invalid', text)
  const { id = processing.newId(), amount, reason } = input
  if (!isUuid(id)) throw invalid('id must be a UUID in lower case, with dashes')
  const isUnits = amount === undefined || typeof amount === 'bigint' || Number.isSafeInteger(amount)
  const units = amount === undefined || !isUnits ? undefined : BigInt(amount)
  if (!isUnits || (units !== undefined && (units <= 0n || units > largestAmount))) {
    throw invalid(`amount must be a whole number of minor units above 0, got ${amount}`)
  }
  if (reason !== undefined && !reasonText.safeParse(reason).success) {
    throw invalid('reason must be text of 1 to 500 characters without control characters')
  }
  return { id, amount: units, reason: reason ?? null }
}

interface Begun {
  readonly charge: Payment
  readonly refund: Payment
  readonly isWhole: boolean
  readonly isNew: boolean
}

/** From now on reports of sums need not wait for it. */
function recordAnswer(
  { id }: Payment,
  error: string | null,
  { processing }: Operating,
): Promise<void> {
  const { database, random } = processing
  return insist(() => recordRefundAnswer(database.db, id, error), random)
}

/** Under the lock of the charge: what is left is counted, and taken, before anybody is asked. */
function begin(charge: Payment, wanted: Wanted, operating: Operating): Promise<Begun> {
  return operating.processing.database.transaction(async ({ db }) => {
    const locked = (await lockPayments(db, [charge.id])).get(charge.id) ?? charge
    const known = await findPayment(db, wanted.id)
    if (known !== undefined) return repeated(known, locked, wanted)
    if (locked.status !== 'paid') {
      const text = `payment ${locked.id} is ${locked.status}, so there is nothing to refund`
      throw new QuittanceError('payment_not_refundable', text)
    }
    const rows = await refundsOf(db, locked.id)
    const standing = rows.filter(({ refund }) => /^(?:paid|pending)$/.test(refund.status))
    const left = standing.reduce((sum, { refund }) => sum - refund.amount, locked.amount)
    const amount = wanted.amount ?? left
    requireLeft({ amount, left, charge: locked })
    const isWhole = amount === locked.amount
    if (!isWhole) requirePartial(locked, operating)
    const now = operating.now()
    const row = refundRow(locked, {
      id: wanted.id,
      amount,
      providerReference: null,
      description: wanted.reason,
      handedAt: now,
      nextPollAt: new Date(now.getTime() + firstPollAfter),
    })
    const refund = await insertPayment(db, row)
    if (refund === undefined) throw exists(wanted.id)
    return { charge: locked, refund, isWhole, isNew: true }
  })
}

function repeated(known: Payment, charge: Payment, { amount, reason }: Wanted): Begun {
  const isSame =
    known.type === 'refund' &&
    known.parentId === charge.id &&
    (amount === undefined || known.amount === amount) &&
    known.description === reason
  if (!isSame) throw exists(known.id)
  return { charge, refund: known, isWhole: known.amount === charge.amount, isNew: false }
}

function exists(id: string): QuittanceError {
  return new QuittanceError('refund_exists', `refund ${id} exists already with other content`)
}

function requireLeft(sums: {
  readonly amount: bigint
  readonly left: bigint
  readonly charge: Payment
}): void {
  const { amount, left, charge } = sums
  if (amount > 0n && amount <= left) return
  throw new QuittanceError(
    'refund_too_large',
    `of payment ${charge.id} ${left} ${charge.currency} (minor units) are left to refund`,
  )
}

function requirePartial(charge: Payment, operating: Operating): void {
  const { gateway } = gatewayOf(charge, operating)
  if (gateway.capabilities.partialRefund) return
  const text = `${gateway.title} refunds the whole of a payment or nothing`
  throw new QuittanceError('operation_unsupported', text)
}

/** The one request that moves the money. */
function request({ charge, refund, isWhole }: Begun, operating: Operating): Promise<RefundReply> {
  const found = gatewayOf(charge, operating)
  const { refund: ask } = found.gateway
  if (ask === undefined) throw new Error(`gateway ${charge.gateway} cannot refund`)
  const reason = refund.description
  return askProvider(found, operating, (context) =>
    ask({ payment: charge, refund, isWhole, reason }, context),
  )
}

async function recordFailure(
  refund: Payment,
  operating: Operating,
  error: unknown,
): Promise<QuittanceError> {
  const { processing } = operating
  const text = failureText(error, operating)
  processing.log.warn({ err: error, refund: refund.id }, 'a refund was not answered with a yes')
  await recordAnswer(refund, text, operating)
  if (!isRefusal(error)) {
    return new QuittanceError('refund_unknown', `refund ${refund.id}: ${text}`)
  }
  await recordRefund(refund, { status: 'failed' }, { operating, cause: 'refund' })
  return refused(refund, text, error.providerCode)
}

function refused(refund: Payment, said: string, providerCode?: string): QuittanceError {
  return new QuittanceError('refund_refused', `refund ${refund.id}: ${said}`, { providerCode })
}

async function current(refund: Payment, { processing }: Operating): Promise<Payment> {
  return (await findPayment(processing.database.db, refund.id)) ?? refund
}
