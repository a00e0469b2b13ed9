import type { Payment } from '../payments/payment.ts'
import { applyReport } from '../processing/apply-report.ts'
import type { MoneyContext } from './context.ts'
import { statementOf } from './statement.ts'

/** What a provider said of a refund that we requested. */
export interface RefundAnswer {
  readonly status: 'paid' | 'pending' | 'failed'
  readonly reference?: string
}

/** Applies the result of one of our refunds, to its row and to no other. */
export async function reportRefund(
  refund: Payment,
  { status, reference }: RefundAnswer,
  { context, cause }: { readonly context: MoneyContext; readonly cause: 'poll' | 'refund' },
): Promise<void> {
  const { id, parentId, gateway, amount, currency } = refund
  if (parentId === null) throw new Error(`refund ${id} has no charge`)
  await applyReport(
    {
      gateway,
      cause,
      queue: context.queue,
      outcomes: [
        {
          type: 'refund',
          payment: { id: parentId },
          status,
          amount,
          currency,
          refundId: id,
          ...(reference !== undefined && { refundReference: reference }),
          ...statementOf(refund),
        },
      ],
    },
    context.processing,
  )
}
