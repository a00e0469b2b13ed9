import { databaseNow } from '../database/now.ts'
import { findPayments } from '../database/payments.ts'
import type { PollReply } from '../gateways/operations.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import type { Payment } from '../payments/payment.ts'
import { goesBy } from '../payments/transition.ts'
import { askProvider, keepActivity } from './ask-provider.ts'
import { requestAbout } from './close-checkout.ts'
import type { MoneyContext } from './context.ts'
import { pollQuestion } from './poll-payment.ts'
import { isToBeClosed } from './write-off.ts'

/**
 * What the provider says by one request of as many of these payments as it takes, by id: for
 * `pollPayment`, soon. Undefined: nobody was asked. Errors: those of the provider.
 */
export async function pollTogether(
  ids: readonly string[],
  found: RegisteredGateway,
  context: MoneyContext,
): Promise<ReadonlyMap<string, PollReply> | undefined> {
  const { pollTogether: together } = found.gateway
  if (together === undefined) return undefined
  const known = await findPayments(context.processing.database.db, ids)
  const payments = ids.flatMap((id) => known.get(id) ?? []).filter(canBeListed)
  const asked = payments.slice(0, together.most)
  if (asked.length < 2) return undefined
  const begun = performance.now()
  const question = { of: found, operation: 'poll' } as const
  const said = await askProvider(question, context, (operation) =>
    together.ask(asked.map(requestAbout), operation),
  )
  const durationMs = performance.now() - begun
  const now = await databaseNow(context.processing.database.db)
  const replies = new Map<string, PollReply>()
  for (const payment of asked) {
    const reply = said.get(payment.id)
    if (reply === undefined || !isAbout(payment, reply)) continue
    // What asks the provider once more keeps to its pace: it is polled alone.
    if (isToBeClosed(payment, reply, now)) continue
    replies.set(payment.id, reply)
    const about = pollQuestion(payment, found)
    const answer = { result: 'answered', detail: about.describe(reply), durationMs }
    await keepActivity(about, context, answer)
  }
  return replies
}

/** A refund is told with its charge; of a paid one more must be asked than how it stands. */
function canBeListed({ type, status, checkoutReference }: Payment): boolean {
  return type === 'charge' && status !== 'paid' && checkoutReference !== null
}

/** A gateway may have matched a list by its order. */
function isAbout(payment: Payment, { outcomes }: PollReply): boolean {
  return outcomes.every((one) => one.payment === undefined || goesBy(payment, one.payment))
}
