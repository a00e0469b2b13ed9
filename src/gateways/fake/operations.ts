import { QuittanceError } from '../../kernel/errors.ts'
import { ignored } from '../../payments/outcome.ts'
import type { OperationContext, Operations } from '../operations.ts'

/**
 * What a provider would do at once and without a memory: nobody is asked, no money moves. The payer
 * pays or declines on a page of ours, which sends the callback.
 * Error of all but the checkout: `gateway_not_configured` while the gateway is switched off.
 */
export const fakeOperations = {
  checkout: {
    kind: 'page',
    url: ({ origin, payment }) => `${origin}/billing/fake/checkout/${payment.id}`,
  },
  poll: async ({ payment: { expiresAt } }, context) => {
    refuseIfOff(context)
    const isOpen = expiresAt === null || context.now < expiresAt
    return {
      outcomes: [ignored('no_outcome', 'fake')],
      standing: isOpen ? 'open' : 'unpaid',
      listsRefunds: false,
    }
  },
  refund: async ({ refund }, context) => {
    refuseIfOff(context)
    return { status: 'paid', reference: `fake_refund_${refund.id}` }
  },
  closeCheckout: async (_request, context) => {
    refuseIfOff(context)
    return 'closed'
  },
} as const satisfies Operations

function refuseIfOff({ credentials }: OperationContext): void {
  if (credentials.configured) return
  throw new QuittanceError('gateway_not_configured', 'the fake gateway is switched off', {
    fix: 'Set BILLING_FAKE=on.',
  })
}
