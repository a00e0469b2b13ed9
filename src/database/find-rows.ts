import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Payable } from '../payments/payment.ts'
import type { FoundBy, FoundRow } from '../wire/found.ts'
import type { Tables } from './tables.ts'

/** What something is looked up by: one condition, which an index answers. */
export type LookUp = { readonly by: FoundBy } & (
  | { readonly in: 'ids'; readonly id: string }
  | { readonly in: 'references'; readonly reference: string; readonly gateways: readonly string[] }
  | { readonly in: 'numbers'; readonly series: string; readonly number: bigint }
  | { readonly in: 'payables'; readonly payable: Payable }
  | {
      readonly in: 'keys'
      readonly key: Buffer
      /** Of those that have the key, only these count. */
      readonly currency?: string | undefined
      /** How many are looked at, the newest; otherwise as many as are shown. */
      readonly most?: number | undefined
    }
)

/** A row that was looked up; of a payment, no more is known yet. */
export interface LookedUp {
  /** By which of the look-ups. */
  readonly place: number
  readonly by: FoundBy
  readonly kind: Exclude<FoundRow['kind'], 'call'> | 'payment'
  readonly id: string
  readonly createdAt: Date
}

interface Branch {
  readonly by: FoundBy
  readonly kind: LookedUp['kind']
  /** Selects `id` and `created_at`. */
  readonly rows: RawBuilder<unknown>
}

/**
 * All look-ups in one statement: as many index scans as there are branches, each of which stops after
 * `most` rows. In the order of the look-ups, the newest first.
 */
export async function lookUp(
  db: Kysely<Tables>,
  lookUps: readonly LookUp[],
  most: number,
): Promise<readonly LookedUp[]> {
  const branches = lookUps.flatMap((one, place) =>
    branchesOf(one, most).map((branch) => ({ branch, place })),
  )
  const selects = branches.map(
    ({ branch: { rows } }, at) =>
      sql`(select ${at}::int as branch, id, created_at from (${rows}) as found)`,
  )
  const { rows } = await sql<{ branch: number; id: string; created_at: Date }>`
    select branch, id, created_at from (${sql.join(selects, sql` union all `)}) as looked_up
    order by branch, created_at desc, id desc`.execute(db)
  return rows.flatMap(({ branch: at, id, created_at: createdAt }) => {
    const looked = branches[at]
    if (looked === undefined) return []
    const { by, kind } = looked.branch
    return [{ place: looked.place, by, kind, id, createdAt }]
  })
}

/** When the stored callback of this id came; undefined if there is none. Calls are read by themselves. */
export async function findCallTime(db: Kysely<Tables>, id: string): Promise<Date | undefined> {
  const row = db.selectFrom('billing.webhook_calls').select('received_at').where('id', '=', id)
  return (await row.executeTakeFirst())?.received_at
}

function branchesOf(lookUp: LookUp, most: number): readonly Branch[] {
  if (lookUp.in === 'ids') return byId(lookUp.id)
  if (lookUp.in === 'references') return byReference(lookUp, most)
  if (lookUp.in === 'payables') return byPayable(lookUp.payable, most)
  const { by } = lookUp
  if (lookUp.in === 'numbers') return [{ by, kind: 'invoice', rows: byNumber(lookUp) }]
  const rows = sql`select payment_id as id, created_at from billing.payment_keys
    where key = ${lookUp.key} order by created_at desc, payment_id desc
    limit ${lookUp.most ?? most}`
  return [{ by, kind: 'payment', rows }]
}

function byId(id: string): readonly Branch[] {
  const tables = [
    ['payment', sql`billing.payments`],
    ['subscription', sql`billing.subscriptions`],
    ['invoice', sql`billing.invoices`],
    ['payment_method', sql`billing.payment_methods`],
    ['review', sql`billing.reviews`],
    ['event', sql`billing.events`],
  ] as const
  return tables.map(([kind, table]) => ({
    by: 'id',
    kind,
    rows: sql`select id, created_at from ${table} where id = ${id}::uuid`,
  }))
}

function byNumber({ series, number }: { readonly series: string; readonly number: bigint }) {
  return sql`select id, created_at from billing.invoices
    where series = ${series} and number = ${number}::bigint and number is not null`
}

/** The provider's ids are unique within a gateway, and what has one of its own has an index by it. */
function byReference(
  {
    reference,
    gateways: names,
  }: { readonly reference: string; readonly gateways: readonly string[] },
  most: number,
): readonly Branch[] {
  const ofGateways = sql`gateway = any(${[...names]}::text[])`
  const ofPayments = sql`${ofGateways} and type = any(array['charge', 'refund'])`
  const isProviders = sql`provider_reference = ${reference} limit ${most}`
  return [
    {
      by: 'provider_reference',
      kind: 'payment',
      rows: sql`select id, created_at from billing.payments where ${ofPayments} and ${isProviders}`,
    },
    {
      by: 'checkout_reference',
      kind: 'payment',
      rows: sql`select id, created_at from billing.payments
        where ${ofPayments} and checkout_reference = ${reference} limit ${most}`,
    },
    {
      by: 'subscription_reference',
      kind: 'payment',
      rows: sql`select id, created_at from billing.payments
        where ${ofGateways} and subscription_reference = ${reference} limit ${most}`,
    },
    {
      by: 'provider_reference',
      kind: 'subscription',
      rows: sql`select id, created_at from billing.subscriptions
        where ${ofGateways} and ${isProviders}`,
    },
    {
      by: 'provider_reference',
      kind: 'invoice',
      rows: sql`select id, created_at from billing.invoices where ${ofGateways} and ${isProviders}`,
    },
    {
      by: 'provider_reference',
      kind: 'payment_method',
      rows: sql`select id, created_at from billing.payment_methods
        where ${ofGateways} and ${isProviders}`,
    },
  ]
}

/** Payments have a key for it. */
function byPayable({ type, id }: Payable, most: number): readonly Branch[] {
  const isOf = sql`payable_type = ${type} and payable_id = ${id}`
  return [
    {
      by: 'payable',
      kind: 'subscription',
      rows: sql`select id, created_at from billing.subscriptions
        where ${isOf} order by created_at desc, id desc limit ${most}`,
    },
    {
      by: 'payable',
      kind: 'invoice',
      rows: sql`select id, created_at from billing.invoices
        where ${isOf} order by issued_at desc, id desc limit ${most}`,
    },
  ]
}
