import type { Kysely } from 'kysely'
import { findPaymentMethod } from '../database/payment-methods.ts'
import type { Tables } from '../database/tables.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { fieldError } from '../kernel/errors.ts'

/** A saved card that somebody wants charged by a gateway, under one of its accounts. */
export interface WantedCard {
  readonly paymentMethodId: string | null
  readonly merchantAccount: string | null
}

/** Error: `payment_method_unusable`, which says why. */
export async function requirePaymentMethod(
  db: Kysely<Tables>,
  { paymentMethodId: id, merchantAccount }: WantedCard,
  { gateway }: RegisteredGateway,
): Promise<void> {
  const method = id === null ? undefined : await findPaymentMethod(db, id)
  const unusable = (why: string) =>
    fieldError('payment_method_unusable', 'paymentMethodId', `${id} ${why}`)
  if (method === undefined) throw unusable('is not known')
  if (method.gateway !== gateway.name) throw unusable(`is of gateway ${method.gateway}`)
  if (method.status !== 'attached') throw unusable('has been removed')
  if (method.merchantAccount !== merchantAccount) throw unusable('is of another account')
  if (gateway.secretFields.length > 0 && !method.hasToken) {
    throw unusable('has no stored token: no encryption key was set when it was saved')
  }
}
