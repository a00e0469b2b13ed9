import { setTimeout as pause } from 'node:timers/promises'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../database/tables.ts'
import { isUuid } from '../kernel/uuid.ts'
import type { PaymentReference } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { asNew } from '../leases/queue-rows.ts'

/**
 * An early callback names a payment that does not exist yet. Its call ends Ignored
 * `unknown_payment` and keeps what it waits for; the creation of that payment requeues it. Both
 * sides write, commit, then look, so that at least one of them sees the other.
 */
export function awaitingKey(
  gateway: string,
  reference: PaymentReference | { readonly subscriptionReference: string },
): string {
  if ('id' in reference) return `id:${reference.id}`
  if ('subscriptionReference' in reference) {
    return `subscription:${gateway}/${reference.subscriptionReference}`
  }
  return 'checkoutReference' in reference
    ? `checkout:${gateway}/${reference.checkoutReference}`
    : `provider:${gateway}/${reference.providerReference}`
}

/** What waits until this payment is paid. */
export function paidKey({ id }: Pick<Payment, 'id'>): string {
  return `paid:${id}`
}

/** Everything that an early callback about this payment may be waiting for. */
function keysOf(payment: Payment): readonly string[] {
  const { id, gateway, checkoutReference, providerReference } = payment
  const names = [
    { id },
    checkoutReference === null ? null : { checkoutReference },
    providerReference === null ? null : { providerReference },
  ]
  return names.filter((name) => name !== null).map((name) => awaitingKey(gateway, name))
}

/**
 * Requeues a finished call as if it had just come. A mark for a person stays until the call ends
 * again.
 */
export const requeued = sql`${asNew}, awaiting = null, awaiting_also = null`

/** Called after a payment is committed; returns the ids of the calls that no longer wait. */
export async function requeueCallsAwaiting(
  db: Kysely<Tables>,
  payment: Payment,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set ${requeued}
    where (awaiting = any(${[...keysOf(payment)]}::text[])
        or awaiting_also = any(${[...keysOf(payment)]}::text[]))
      and state in ('processed', 'ignored')
    returning id`.execute(db)
  return rows.map((row) => row.id)
}

/**
 * Requeues waiting calls whose payment exists by now: one call right after it was committed as
 * waiting, or all of them (the sweeper's backstop). Returns the ids of the requeued calls.
 */
export async function requeueCallsWithPayment(
  db: Kysely<Tables>,
  callId?: string,
): Promise<readonly string[]> {
  if (callId !== undefined) return requeueThoseWithPayment(db, await readWaiting(db, callId))
  const back: string[] = []
  for await (const calls of waitingCalls(db)) {
    back.push(...(await requeueThoseWithPayment(db, calls)))
  }
  return back
}

/** Looks after the calls are read: what is created later requeues them itself. */
async function requeueThoseWithPayment(
  db: Kysely<Tables>,
  calls: readonly WaitingCall[],
): Promise<readonly string[]> {
  const there = await findAwaited(db, calls)
  const found = calls.filter((call) => keysIn(call).some((key) => there.has(key)))
  if (found.length === 0) return []
  const { rows } = await sql<{ id: string }>`
    update billing.webhook_calls set ${requeued}
    where id = any(${found.map(({ id }) => id)}::uuid[]) and awaiting is not null
      and state in ('processed', 'ignored')
    returning id`.execute(db)
  return rows.map((row) => row.id)
}

/** How many rows one statement reads; then other work has its turn. */
const pageRows = 1_000
const pauseMs = 20

/** A finished call, and the one or two names under which it waits for a payment. */
interface WaitingCall {
  readonly id: string
  readonly gateway: string
  readonly awaiting: string
  readonly awaiting_also: string | null
}

const columns = sql`id, gateway, awaiting, awaiting_also`
const beginning = { id: '00000000-0000-0000-0000-000000000000', awaiting: '' }

/** Nothing if the call does not wait. */
async function readWaiting(db: Kysely<Tables>, id: string): Promise<readonly WaitingCall[]> {
  const { rows } = await sql<WaitingCall>`
    select ${columns} from billing.webhook_calls
    where id = ${id}::uuid and awaiting is not null`.execute(db)
  return rows
}

/**
 * All finished calls that wait for a payment, page by page. If another system uses the same account
 * at a provider, all its payments wait here until they are pruned.
 */
export async function* waitingCalls(db: Kysely<Tables>): AsyncGenerator<readonly WaitingCall[]> {
  for (let after = beginning; ;) {
    const { rows } = await sql<WaitingCall>`
      select ${columns} from billing.webhook_calls
      where awaiting is not null and (awaiting, id) > (${after.awaiting}, ${after.id}::uuid)
      order by awaiting, id limit ${pageRows}`.execute(db)
    if (rows.length > 0) yield rows
    if (rows.length < pageRows) return
    const [last = after] = rows.slice(-1)
    after = last
    await pause(pauseMs)
  }
}

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
async function findAwaited(
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
function keysIn({ awaiting, awaiting_also: also }: WaitingCall): readonly string[] {
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
