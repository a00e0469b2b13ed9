import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payment } from '../../payments/payment.ts'
import { isJsonObject, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest, Standing } from '../operations.ts'
import { adjustmentsOf } from './find-adjustments.ts'
import { replyInvalid, requirePaddleApi, type PaddleApi } from './api.ts'
import { checkoutIn } from './checkout.ts'
import { findTransaction, findTransactions } from './find-transaction.ts'
import { credits, readAdjustment } from './read-adjustment.ts'
import { eventTypeOf, readTransaction } from './read-transaction.ts'
import { isCharged, isId, shownField } from './payload.ts'

/** What Paddle says of a payment: its transaction, and its adjustments once money was taken. */
export async function pollPayment(
  request: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  const api = requirePaddleApi(context)
  const transaction = await findTransaction(api, request)
  if (transaction === undefined) {
    const outcomes = [ignored('no_outcome', 'no such transaction')]
    return { outcomes, standing: 'absent', listsRefunds: false }
  }
  return sayingOf(transaction, { api, payment: request.payment })
}

/**
 * What one list says of payments whose transactions are stored. Of one that took money it does not
 * say everything: its adjustments are in another list.
 */
export async function pollPayments(
  requests: readonly PollRequest[],
  context: OperationContext,
): Promise<ReadonlyMap<string, PollReply>> {
  const api = requirePaddleApi(context)
  const replies = new Map<string, PollReply>()
  // Of one that began elsewhere the merchant has written it.
  const ids = requests.map(({ payment }) => payment.checkoutReference ?? undefined)
  const known = new Set(ids.filter((id) => isId(id, 'txn_')))
  if (known.size === 0) return replies
  const found = await findTransactions(api, known)
  for (const { payment } of requests) {
    const transaction = found.get(payment.checkoutReference ?? '')
    if (transaction === undefined || isCharged(transaction)) continue
    replies.set(payment.id, await sayingOf(transaction, { api, payment }))
  }
  return replies
}

async function sayingOf(
  transaction: JsonObject,
  { api, payment }: Pick<Asked, 'api' | 'payment'>,
): Promise<PollReply> {
  const standing = standingOf(transaction)
  const charge = await chargeOf(transaction, { api, standing, payment })
  const adjustments = isCharged(transaction) ? await readAdjustments(api, transaction) : undefined
  return {
    outcomes: [charge, ...(adjustments?.outcomes ?? [])],
    standing,
    // Nobody has begun to pay it.
    ...(transaction.get('status') === 'draft' && { unclosable: true }),
    ...(payment.checkoutReference === null && { checkout: checkoutIn(transaction) }),
    listsRefunds: adjustments?.isWhole ?? false,
  }
}

interface Asked {
  readonly api: PaddleApi
  readonly standing: Standing
  readonly payment: Payment
}

/**
 * A transaction that is stored, or was made by us, belongs to this payment. One that was only found
 * by what a payer may have written claims to belong to it.
 */
async function chargeOf(
  transaction: JsonObject,
  { api, standing, payment: { id, checkout, checkoutReference } }: Asked,
): Promise<Outcome> {
  if (standing === 'unclear') {
    const attempt = attemptIn(transaction) ?? 'none'
    const said = `transaction ${shownField(transaction, 'status')}, attempt ${attempt}`
    return ignored('no_outcome', detail(said))
  }
  const event = { type: eventTypeOf(transaction), data: transaction }
  const isOurs = checkoutReference !== null || checkout !== 'none'
  return readTransaction(event, api, isOurs ? id : undefined)
}

interface Adjustments {
  readonly outcomes: readonly Outcome[]
  /** Whether every refund could be read. */
  readonly isWhole: boolean
}

async function readAdjustments(api: PaddleApi, transaction: JsonObject): Promise<Adjustments> {
  const id = transaction.get('id')
  if (!isId(id, 'txn_')) throw replyInvalid('GET /transactions')
  const adjustments = await adjustmentsOf(api, id)
  const outcomes = adjustments
    .filter((adjustment) => !credits.has(textOf(adjustment.get('action')) ?? ''))
    .map((data) => readAdjustment({ type: 'adjustment.updated', data }))
  return { outcomes, isWhole: outcomes.every(({ type }) => type !== 'ignored') }
}

/** How a transaction stands; anything not listed here is `unclear`. */
export function standingOf(transaction: JsonObject): Standing {
  if (isCharged(transaction)) return 'paid'
  const status = textOf(transaction.get('status')) ?? ''
  const attempt = attempts.get(attemptIn(transaction)) ?? 'unclear'
  if (status === 'canceled') return attempt === 'unpaid' ? 'unpaid' : 'unclear'
  if (!payableStatuses.has(status)) return 'unclear'
  return attempt === 'unpaid' ? 'open' : attempt
}

const payableStatuses: ReadonlySet<string> = new Set(['draft', 'ready', 'billed', 'past_due'])

type Attempt = 'unpaid' | 'undecided'

/** https://developer.paddle.com/api-reference/transactions/overview */
const attempts: ReadonlyMap<string | undefined, Attempt> = new Map<string | undefined, Attempt>([
  [undefined, 'unpaid'],
  ['created', 'unpaid'],
  ['action_required', 'unpaid'],
  ['error', 'unpaid'],
  ['canceled', 'unpaid'],
  ['dropped', 'unpaid'],
  ['authorized', 'undecided'],
  ['authorized_flagged', 'undecided'],
  ['captured', 'undecided'],
  ['pending_no_action_required', 'undecided'],
])

/** The status of the newest attempt to pay, which is listed first; undefined if there is none. */
function attemptIn(transaction: JsonObject): string | undefined {
  const payments = transaction.get('payments') ?? []
  if (!Array.isArray(payments)) return 'unreadable'
  const [newest] = payments
  if (newest === undefined) return undefined
  return (isJsonObject(newest) && textOf(newest.get('status'))) || 'unreadable'
}
