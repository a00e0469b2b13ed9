import type { RegisteredGateway } from '../gateways/registry.ts'
import { fieldError } from '../kernel/errors.ts'
import type { Money } from '../kernel/money.ts'

/** Error: `subscription_invalid` for money that the gateway cannot take; nothing is always taken. */
export function requireMoney({ gateway }: RegisteredGateway, { amount, currency }: Money): void {
  const fault = amount === 0n ? undefined : gateway.moneyFault?.({ amount, currency })
  if (fault === undefined) return
  throw fieldError('subscription_invalid', 'amount', `${gateway.title}: ${fault}`)
}
