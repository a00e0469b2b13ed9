import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireOperation } from '../gateways/require.ts'
import { fieldError, QuittanceError } from '../kernel/errors.ts'
import { requireMoney } from './require-money.ts'
import type { ResolvedTerms } from './resolve-plan.ts'
import type { SubscriptionInputs } from './subscription-input.ts'

/**
 * Refuses what a provider cannot be given to manage: it begins with a checkout there, and has all its
 * charges made by the provider. Errors: `operation_unsupported`, `gateway_not_configured`,
 * `subscription_invalid`.
 */
export function requireManageable(
  found: RegisteredGateway,
  terms: ResolvedTerms,
  { paymentMethodId, paidUntil }: SubscriptionInputs['create'],
): void {
  const { gateway } = found
  const subscriptions = requireOperation(found, 'subscriptions')
  if (requireOperation(found, 'checkout').kind !== 'api') {
    const text = `${gateway.title} cannot begin a subscription with a checkout`
    throw new QuittanceError('operation_unsupported', text)
  }
  if (paymentMethodId !== undefined) {
    throw unusable('paymentMethodId', 'the provider charges the card that its checkout saves')
  }
  if (paidUntil !== undefined) {
    throw unusable('paidUntil', 'only what we charge can be brought along')
  }
  if (terms.amount === 0n) throw unusable('amount', 'the provider has nothing to charge')
  requireMoney(found, terms)
  const fault = subscriptions.intervalFault?.(terms.every)
  if (fault === undefined) return
  throw fieldError('subscription_invalid', 'every', `${gateway.title}: ${fault}`)
}

function unusable(field: string, why: string): QuittanceError {
  const fault = `does not go with a subscription that the provider manages: ${why}`
  return fieldError('subscription_invalid', field, fault)
}
