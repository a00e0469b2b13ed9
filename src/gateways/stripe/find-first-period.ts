import { seconds } from '../../kernel/duration.ts'
import { within } from '../../kernel/within.ts'
import type { PaymentOutcome } from '../../payments/outcome.ts'
import type { LookUps } from './api.ts'
import { isId, type Snapshot } from './payload.ts'
import { periodOf } from './read-lines.ts'

/** Less than an interpretation may take: the payment does not wait for its period for ever. */
const periodLimit = seconds(8)

/**
 * The time that the checkout of a subscription has paid for. Only its invoice says it, and the event
 * may come when that time is over. A failure here never costs the payment: its period then begins
 * when it becomes known.
 */
export async function findFirstPeriod(
  snapshot: Snapshot,
  { amount, providerReference }: PaymentOutcome,
  { api, log }: LookUps,
): Promise<Pick<PaymentOutcome, 'period'>> {
  // A trial is stated by its subscription.
  if (api === undefined || amount === 0n || !isId(providerReference, 'in_')) return {}
  const late = () => new Error(`the look-up took over ${periodLimit / 1000} s`)
  try {
    const invoice = await within(periodLimit, late, () =>
      api.get(`v1/invoices/${providerReference}`),
    )
    const period = invoice && periodOf(invoice)
    return period === undefined ? {} : { period }
  } catch (error) {
    log.warn({ err: error, event: snapshot.id }, 'the payment counts, its period is not known')
    return {}
  }
}
