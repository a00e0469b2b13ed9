import { findPaymentMethodToken } from '../database/payment-methods.ts'
import { secret, type Secret } from '../kernel/secret.ts'
import { tokenContext } from '../outcomes/apply-payment-method.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { MoneyContext } from './context.ts'

/** The token of a saved card; null if none is stored, or none of our keys decrypts it. */
export async function tokenOf(
  method: PaymentMethod,
  { processing }: MoneyContext,
): Promise<Secret | null> {
  if (!method.hasToken) return null
  const encrypted = await findPaymentMethodToken(processing.database.db, method.id)
  const context = tokenContext(method.gateway, method.providerReference)
  const bytes = encrypted && processing.cipher?.decrypt(encrypted, context)
  return bytes ? secret(Buffer.from(bytes).toString()) : null
}
