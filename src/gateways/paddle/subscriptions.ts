import type { Outcome } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type {
  SubscriptionOperations,
  SubscriptionReply,
  SubscriptionRequest,
} from '../subscription-operations.ts'
import { replyInvalid, requirePaddleApi } from './api.ts'
import { firstCharge, newestCharges } from './find-charges.ts'
import { claimIn, isId } from './payload.ts'
import { readInvoice } from './read-invoice.ts'
import { statementOf, type SubscriptionReading } from './read-subscription.ts'
import { eventTypeOf, readTransaction } from './read-transaction.ts'
import {
  cancelSubscription,
  pauseSubscription,
  resumeSubscription,
} from './subscriptions-wishes.ts'

/**
 * Subscriptions that Paddle manages. A period of every length that we know can be one of Paddle's:
 * days, weeks, months or years, any number of them.
 */
export const paddleSubscriptions: SubscriptionOperations = {
  read: readManaged,
  cancel: cancelSubscription,
  pause: pauseSubscription,
  resume: resumeSubscription,
}

/**
 * The subscription first, then its transactions: money that was taken in between is reported, and a
 * statement that is older than it changes less than it might.
 */
async function readManaged(
  { reference }: SubscriptionRequest,
  context: OperationContext,
): Promise<SubscriptionReply | undefined> {
  const api = requirePaddleApi(context)
  // Paddle has none of another name.
  if (!isId(reference, 'sub_')) return undefined
  const subscription = await api.get('subscriptions', reference, 'recurring_transaction_details')
  if (subscription === undefined) return undefined
  const charges = await newestCharges(api, reference)
  const first = await firstCharge(api, reference, charges)
  const reading = { subscription, charges, first }
  const statement = statementOf(reading)
  if (statement === undefined) throw replyInvalid(`GET /subscriptions/${reference}`)
  return { statement, outcomes: await outcomesOf(reading) }
}

/** What its transactions say, oldest first, and the documents of those that have one. */
async function outcomesOf({
  subscription,
  charges,
  first,
}: SubscriptionReading): Promise<readonly Outcome[]> {
  const all = first === undefined || charges.includes(first) ? charges : [...charges, first]
  const outcomes: Outcome[] = []
  for (const charge of all.toReversed()) {
    const outcome = await readTransaction({ type: eventTypeOf(charge), data: charge }, undefined)
    if (outcome.type === 'payment') outcomes.push(claiming(outcome, subscription))
    const invoice = readInvoice(charge)
    if (invoice !== undefined) outcomes.push(invoice)
  }
  return outcomes
}

/** A renewal without custom data claims what its subscription does, as when it is reported. */
function claiming(
  outcome: Extract<Outcome, { type: 'payment' }>,
  subscription: JsonObject,
): Outcome {
  if (outcome.renews === undefined || outcome.claimed !== undefined) return outcome
  const claimed = claimIn(subscription)
  return claimed === undefined ? outcome : { ...outcome, claimed }
}
