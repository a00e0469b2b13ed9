import { hours } from '../../kernel/duration.ts'
import { ignored } from '../../payments/outcome.ts'
import type { OperationContext } from '../interpret-context.ts'
import type { PollReply, PollRequest } from '../operations.ts'
import { endedAs, statedOf, type FakeEnd } from './ending.ts'
import { refuseIfOff } from './refuse-if-off.ts'

/** It has no memory: all that it knows of a payment is what the payment itself shows. */
export async function pollFake(
  request: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  refuseIfOff(context)
  const { payment } = request
  if (payment.paymentMethodId !== null) return pollCharge(request, context, endedAs(payment))
  const isOpen = payment.expiresAt === null || context.now < payment.expiresAt
  return {
    outcomes: [ignored('no_outcome', 'fake')],
    standing: isOpen ? 'open' : 'unpaid',
    listsRefunds: false,
  }
}

/** Of a charge that the payer has to confirm, if nothing else is said. */
const confirmedWithin = hours(24)

/** What it says of the charge of a saved card that has ended like this. */
export function pollCharge(
  { payment, handedAt }: PollRequest,
  { now }: OperationContext,
  ending: FakeEnd,
): PollReply {
  const end = payment.expiresAt?.getTime() ?? handedAt.getTime() + confirmedWithin
  const stated = statedOf(payment, {
    ending,
    age: now.getTime() - handedAt.getTime(),
    isOver: now.getTime() >= end,
  })
  return { ...stated, listsRefunds: false }
}
