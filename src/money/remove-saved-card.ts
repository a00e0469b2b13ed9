import { setTimeout as pause } from 'node:timers/promises'
import { findPaymentMethod, hasChargeUnderWay } from '../database/payment-methods.ts'
import { requireGateway, requireOperation } from '../gateways/require.ts'
import { seconds } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { withUuid } from '../kernel/uuid.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import { applyReport } from '../processing/apply-report.ts'
import { askProvider } from './ask-provider.ts'
import type { MoneyContext } from './context.ts'
import { readSavedCards } from './read-saved-cards.ts'
import { statementOf } from './statement.ts'

/**
 * Removes a saved card: at the provider if its API can, then here, where its token is deleted and
 * `PaymentMethodDetached` fires, once. A card that is removed already stays as it is. Nothing is
 * charged from then on: a charge that had begun has ended when this returns. Errors:
 * `payment_method_not_found`, `gateway_unknown`, `gateway_not_configured`, those of the provider;
 * the card is then still saved here, and to remove it again is safe.
 */
export async function removeSavedCard(id: string, context: MoneyContext): Promise<PaymentMethod> {
  const method = await requirePaymentMethod(id, context)
  if (method.status === 'attached') {
    await removeAtProvider(method, context)
    await removeHere(method, context)
  }
  await chargesEnded(method, context)
  return requirePaymentMethod(id, context)
}

async function requirePaymentMethod(id: string, context: MoneyContext): Promise<PaymentMethod> {
  const { db } = context.processing.database
  const method = await withUuid(id, (known) => findPaymentMethod(db, known))
  if (method !== undefined) return method
  const text = `there is no saved card ${JSON.stringify(id)}`
  throw new QuittanceError('payment_method_not_found', text)
}

async function removeAtProvider(method: PaymentMethod, context: MoneyContext): Promise<void> {
  const found = requireGateway(context.processing.gateways, method.gateway)
  if (found.gateway.removeSavedCard === undefined) return
  const remove = requireOperation(found, 'removeSavedCard')
  const token = (await readSavedCards([method.id], context)).get(method.id)?.token ?? null
  await askProvider({ of: found, operation: 'remove_saved_card' }, context, (operation) =>
    remove({ method, token }, operation),
  )
}

async function removeHere(method: PaymentMethod, context: MoneyContext): Promise<void> {
  const { gateway, providerReference: reference } = method
  const detached = { type: 'payment_method', status: 'detached', reference } as const
  const outcomes = [{ ...detached, ...statementOf(method) }]
  const report = { gateway, cause: 'operator', queue: context.queue, outcomes } as const
  await applyReport(report, context.processing)
}

const lookEveryMs = 100
/** By then the answer of a provider is written down, too. */
const recordedWithin = seconds(5)

/**
 * A charge writes its payment, then looks whether the card is still saved; we have removed the
 * card, then look for payments. So no charge begins that is not seen here.
 */
async function chargesEnded({ id }: PaymentMethod, context: MoneyContext): Promise<void> {
  const { db } = context.processing.database
  const within = context.answerWithin + recordedWithin
  while (await hasChargeUnderWay(db, id, within)) await pause(lookEveryMs)
}
