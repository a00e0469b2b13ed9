import { findSavedCards } from '../database/payment-methods.ts'
import { secret, type Secret } from '../kernel/secret.ts'
import { tokenContext } from '../outcomes/apply-payment-method.ts'
import type { PaymentMethod } from '../payments/payment-method.ts'
import type { MoneyContext } from './context.ts'

export interface SavedCard {
  readonly method: PaymentMethod
  /** Null if none is stored, or none of our keys decrypts it. */
  readonly token: Secret | null
}

/** By id; ids without a card are left out. */
export async function readSavedCards(
  ids: readonly string[],
  { processing }: MoneyContext,
): Promise<ReadonlyMap<string, SavedCard>> {
  const found = await findSavedCards(processing.database.db, ids)
  return new Map(
    found.map(({ method, token: encrypted }) => {
      const context = tokenContext(method.gateway, method.providerReference)
      const bytes = encrypted && processing.cipher?.decrypt(encrypted, context)
      return [method.id, { method, token: bytes ? secret(Buffer.from(bytes).toString()) : null }]
    }),
  )
}
