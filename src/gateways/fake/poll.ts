import { ignored } from '../../payments/outcome.ts'
import type { OperationContext, PollReply, PollRequest } from '../operations.ts'
import { refuseIfOff } from './refuse-if-off.ts'

/** It has no memory: all that it knows of a payment is whether its time is up. */
export async function pollFake(
  { payment: { expiresAt } }: PollRequest,
  context: OperationContext,
): Promise<PollReply> {
  refuseIfOff(context)
  const isOpen = expiresAt === null || context.now < expiresAt
  return {
    outcomes: [ignored('no_outcome', 'fake')],
    standing: isOpen ? 'open' : 'unpaid',
    listsRefunds: false,
  }
}
