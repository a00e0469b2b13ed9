import { sql, type Kysely } from 'kysely'
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

/** One of another account is found too, so that it is reported as such. */
const ownFirst = sql`order by coalesce(merchant_account, '') = named.account desc`

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

/** By the index of the name. */
async function findByReferences(
  db: Kysely<Tables>,
  names: readonly PaymentName[],
): Promise<ReadonlyMap<number, string>> {
  if (names.every(({ reference }) => 'id' in reference)) return new Map()
  const references = names.map(({ reference }) => ({
    checkout: 'checkoutReference' in reference ? reference.checkoutReference : null,
    provider: 'providerReference' in reference ? reference.providerReference : null,
  }))
  const charge = sql`
    select id from billing.payments where gateway = named.gateway and type = 'charge'`
  const { rows } = await sql<{ position: bigint; id: string | null }>`
    select position, coalesce(
      (${charge} and checkout_reference = named.checkout ${ownFirst} limit 1),
      (${charge} and provider_reference = named.provider ${ownFirst} limit 1)) as id
    from unnest(
      ${names.map(({ gateway }) => gateway)}::text[],
      ${names.map(({ merchantAccount }) => merchantAccount ?? '')}::text[],
      ${references.map(({ checkout }) => checkout)}::text[],
      ${references.map(({ provider }) => provider)}::text[]
    ) with ordinality as named (gateway, account, checkout, provider, position)`.execute(db)
  return new Map(
    rows.flatMap(({ position, id }) => (id === null ? [] : [[Number(position) - 1, id] as const])),
  )
}
