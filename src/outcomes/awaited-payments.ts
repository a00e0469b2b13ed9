import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { isUuid } from '../kernel/uuid.ts'
import type { WaitingCall } from './waiting-calls.ts'

/** A name under which a call waits, taken apart; see `awaitingKey`. */
interface AwaitedName {
  readonly key: string
  readonly gateway: string
  readonly id: string | null
  readonly checkout: string | null
  readonly provider: string | null
  readonly subscription: string | null
  /** The id of a payment that is there, but not paid yet. */
  readonly paid: string | null
}

/** Of the names under which these calls wait, those whose payment exists by now. */
export async function findAwaited(
  db: Kysely<Tables>,
  calls: readonly WaitingCall[],
): Promise<ReadonlySet<string>> {
  const names = calls.flatMap((call) => keysIn(call).map((key) => nameIn(key, call.gateway)))
  const column = (of: keyof AwaitedName) => names.map((name) => name[of])
  const { rows } = await sql<{ key: string }>`
    with wanted as (
      select * from unnest(${column('key')}::text[], ${column('gateway')}::text[],
        ${column('id')}::uuid[], ${column('checkout')}::text[], ${column('provider')}::text[],
        ${column('subscription')}::text[], ${column('paid')}::uuid[])
        as wanted (key, gateway, id, checkout, provider, subscription, paid)
    )
    select key from wanted join billing.payments as payment on payment.id = wanted.id
    union all select key from wanted join billing.payments as payment
      on payment.id = wanted.paid and payment.status = 'paid'
    union all ${chargesBy('checkout_reference', 'checkout')}
    union all ${chargesBy('provider_reference', 'provider')}
    union all ${chargesBy('subscription_reference', 'subscription')}`.execute(db)
  return new Set(rows.map(({ key }) => key))
}

function chargesBy(reference: string, name: string) {
  return sql`
    select key from wanted join billing.payments as payment
      on payment.gateway = wanted.gateway and payment.type = 'charge'
      and payment.${sql.ref(reference)} = wanted.${sql.ref(name)}`
}

/** Everything that one call waits for; the first to come is enough. */
export function keysIn({ awaiting, awaiting_also: also }: WaitingCall): readonly string[] {
  return also === null ? [awaiting] : [awaiting, also]
}

function nameIn(key: string, gateway: string): AwaitedName {
  const kind = key.slice(0, key.indexOf(':'))
  const uuidOf = (wanted: string) => {
    const id = key.slice(kind.length + 1)
    return kind === wanted && isUuid(id) ? id : null
  }
  const named = (wanted: string) =>
    kind === wanted ? key.slice(`${kind}:${gateway}/`.length) : null
  return {
    key,
    gateway,
    id: uuidOf('id'),
    checkout: named('checkout'),
    provider: named('provider'),
    subscription: named('subscription'),
    paid: uuidOf('paid'),
  }
}
