import { sql, type Kysely } from 'kysely'
import { named } from './named-statements.ts'
import type { PaymentReference } from '../payments/outcome.ts'
import type { Tables } from './tables.ts'

/** How a callback names a payment; the provider's ids are unique within a merchant's account. */
export interface PaymentName {
  readonly gateway: string
  readonly reference: PaymentReference
  /** An id that others can have written: it counts only if no charge has the reference. */
  readonly claimed?: string | undefined
  readonly merchantAccount: string | undefined
}

/** For each name the id of its charge: that of the charge with this reference, or the stated one. */
export async function findPaymentIds(
  db: Kysely<Tables>,
  names: readonly PaymentName[],
): Promise<readonly (string | undefined)[]> {
  const found = await findByReferences(db, names)
  return names.map(({ reference, claimed }, index) =>
    'id' in reference ? reference.id : (found.get(index) ?? claimed),
  )
}

/** By the index of the name. One of another account is found too, so that it is reported as such. */
async function findByReferences(
  db: Kysely<Tables>,
  names: readonly PaymentName[],
): Promise<ReadonlyMap<number, string>> {
  if (names.every(({ reference }) => 'id' in reference)) return new Map()
  const references = names.map(({ reference }) => ({
    checkout: 'checkoutReference' in reference ? reference.checkoutReference : null,
    provider: 'providerReference' in reference ? reference.providerReference : null,
  }))
  const { rows } = await sql<{ position: bigint; id: string }>`${named('find-payment-ids')}
    with wanted as (
      select * from unnest(
        ${names.map(({ gateway }) => gateway)}::text[],
        ${names.map(({ merchantAccount }) => merchantAccount ?? '')}::text[],
        ${references.map(({ checkout }) => checkout)}::text[],
        ${references.map(({ provider }) => provider)}::text[]
      ) with ordinality as wanted (gateway, account, checkout, provider, position)
    ), found as (
      select position, payment.id, 1 as rank, coalesce(merchant_account, '') = account as is_own
      from wanted join billing.payments as payment on payment.gateway = wanted.gateway
        and payment.type = 'charge' and checkout_reference = wanted.checkout
      union all
      select position, payment.id, 2, coalesce(merchant_account, '') = account
      from wanted join billing.payments as payment on payment.gateway = wanted.gateway
        and payment.type = 'charge' and provider_reference = wanted.provider
    )
    select distinct on (position) position, id from found
    order by position, rank, is_own desc`.execute(db)
  return new Map(rows.map(({ position, id }) => [Number(position) - 1, id]))
}
