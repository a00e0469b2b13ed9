import { seconds } from '../../kernel/duration.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { secret } from '../../kernel/secret.ts'
import { within } from '../../kernel/within.ts'
import type { PaymentMethodOutcome } from '../../payments/outcome.ts'
import type { PaymentMethodDetails } from '../../payments/payment-method.ts'
import { textOf } from '../body/json.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { tokenReference } from '../signing/token-reference.ts'
import { bindingOf } from './account.ts'
import { checkStatus, type OrderStatus } from './find-order.ts'
import type { ChargeReport } from './payment-outcome.ts'

/** Well below what a whole interpretation may take: the payment must not wait for its card. */
const lookupLimit = seconds(8)
const late = () => new QuittanceError('provider_unreachable', 'WayForPay did not answer in time')

/**
 * The saved card of a paid order. Its token in the callback is not signed, and the payer can
 * replace it, so only the API's own counts. If the API cannot be asked, there is no card: a payment
 * that counts late, or never, would be worse.
 */
export async function readSavedCard(
  report: ChargeReport,
  context: InterpretContext,
): Promise<readonly PaymentMethodOutcome[]> {
  try {
    return savedCard(report, await lookUp(report, context))
  } catch (error) {
    if (context.signal.aborted) throw error
    const { gateway } = context.credentials
    const { orderReference } = report.signed
    context.log.warn({ err: error, gateway, orderReference }, 'saved card not read')
    return []
  }
}

function lookUp({ signed }: ChargeReport, context: InterpretContext): Promise<OrderStatus> {
  return within(lookupLimit, late, (limit) => {
    const signal = AbortSignal.any([context.signal, limit])
    return checkStatus(signed, { credentials: context.credentials, signal })
  })
}

/** The saved card that the API names. */
export function savedCard(
  { signed, charge }: ChargeReport,
  order: OrderStatus,
): readonly PaymentMethodOutcome[] {
  const token = textOf(order.fields.get('recToken')) ?? ''
  if (token === '') return []
  return [
    {
      type: 'payment_method',
      status: 'attached',
      reference: tokenReference(token),
      payment: charge.payment,
      details: detailsOf(order),
      token: secret(token),
      ...bindingOf(signed.merchantAccount),
    },
  ]
}

const kinds: ReadonlyMap<unknown, string> = new Map([
  ['card', 'card'],
  ['googlePay', 'google_pay'],
  ['applePay', 'apple_pay'],
])

const plainName = /^[A-Za-z]{1,30}$/

function detailsOf({ signed, fields }: OrderStatus): PaymentMethodDetails {
  const kind = kinds.get(fields.get('paymentSystem'))
  const type = textOf(fields.get('cardType')) ?? ''
  const lastFour = /\*(\d{4})$/.exec(signed.cardPan)?.[1]
  return {
    ...(kind !== undefined && { kind }),
    ...(plainName.test(type) && { brand: type.toLowerCase() }),
    ...(lastFour !== undefined && { lastFour }),
  }
}
