import { sql, type Kysely, type Selectable } from 'kysely'
import type { FilterValues } from '../kernel/noun.ts'
import type { Payable } from '../payments/payment.ts'
import {
  subscriptionFilters,
  type NextTerms,
  type Subscription,
  type SubscriptionTransition,
  type WantedQuota,
  type WantedQuotas,
} from '../subscriptions/subscription.ts'
import { conditionsOf } from './conditions.ts'
import { named } from './named-statements.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import { readObject } from './payment-keys.ts'
import type { SubscriptionsTable, SubscriptionTransitionsTable } from './subscription-tables.ts'
import type { Tables } from './tables.ts'

export async function findSubscription(
  db: Kysely<Tables>,
  id: string,
): Promise<Subscription | undefined> {
  return (await findSubscriptions(db, [id])).get(id)
}

/** By id; ids without a subscription are left out. */
export async function findSubscriptions(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Subscription>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<SubscriptionRow>`${named('find-subscriptions')}
    select ${subscriptionColumns} from billing.subscriptions
    where id = any(${[...ids]}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.id, toSubscription(row)]))
}

/** Which subscriptions to list: those that fit all of it; all of them if left out. */
export interface SubscriptionsQuery extends PageQuery, FilterValues<typeof subscriptionFilters> {}

/** Newest first. */
export async function listSubscriptions(
  db: Kysely<Tables>,
  query: SubscriptionsQuery,
): Promise<Page<Subscription>> {
  const conditions = conditionsOf(subscriptionFilters, query)
  const rows = await db
    .selectFrom('billing.subscriptions')
    .selectAll()
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id', 'created_at'))
    .execute()
  return toPage(rows.map(toSubscription), query, ({ createdAt, id }) => ({ at: createdAt, id }))
}

/** Those of these payables that grant access or may come to: all that are not over. */
export async function findSubscriptionsOf(
  db: Kysely<Tables>,
  payables: readonly Payable[],
): Promise<readonly Subscription[]> {
  if (payables.length === 0) return []
  const { rows } = await sql<SubscriptionRow>`${named('find-subscriptions-of')}
    select ${subscriptionColumns} from billing.subscriptions
    where (payable_type, payable_id) in (
        select * from unnest(${payables.map(({ type }) => type)}::text[],
          ${payables.map(({ id }) => id)}::text[]))
      and ended_at is null`.execute(db)
  return rows.map(toSubscription)
}

/** Its history, oldest first. */
export async function listSubscriptionTransitions(
  db: Kysely<Tables>,
  subscriptionId: string,
): Promise<readonly SubscriptionTransition[]> {
  const rows = await db
    .selectFrom('billing.subscription_transitions')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .orderBy('id')
    .execute()
  return rows.map(toTransition)
}

function toTransition(row: Selectable<SubscriptionTransitionsTable>): SubscriptionTransition {
  return {
    id: row.id,
    subscriptionId: row.subscription_id,
    from: row.from_status,
    to: row.to_status,
    reason: row.reason,
    periodId: row.period_id,
    at: row.at,
  }
}

/** Columns that `toSubscription` reads. */
const columns = [
  'id',
  'managed_by',
  'gateway',
  'merchant_account',
  'live',
  'provider_reference',
  'status',
  'plan',
  'payable_type',
  'payable_id',
  'description',
  'customer',
  'metadata',
  'amount',
  'currency',
  'every_unit',
  'every_count',
  'next_terms',
  'due_quotas',
  'time_zone',
  'anchor_at',
  'anchor_number',
  'payment_method_id',
  'grace_access',
  'trial_ends_at',
  'paid_until',
  'cancel_at',
  'pause_at',
  'resume_at',
  'suspended_at',
  'ended_at',
  'end_reason',
  'event_number',
  'next_action_at',
  'action_error',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof SubscriptionsTable)[]

export type SubscriptionRow = Pick<Selectable<SubscriptionsTable>, (typeof columns)[number]>
export const subscriptionColumns = sql.raw(columns.join(', '))

export function toSubscription(row: SubscriptionRow): Subscription {
  return {
    id: row.id,
    managedBy: row.managed_by,
    gateway: row.gateway,
    merchantAccount: row.merchant_account,
    live: row.live,
    providerReference: row.provider_reference,
    status: row.status,
    plan: row.plan,
    payable: { type: row.payable_type, id: row.payable_id },
    description: row.description,
    customer: readObject(row.customer),
    metadata: readObject(row.metadata),
    amount: row.amount,
    currency: row.currency,
    every: { unit: row.every_unit, count: row.every_count },
    nextTerms: readTerms(row.next_terms),
    dueQuotas: readQuotas(row.due_quotas),
    timeZone: row.time_zone,
    anchorAt: row.anchor_at,
    anchorNumber: row.anchor_number,
    paymentMethodId: row.payment_method_id,
    graceAccess: row.grace_access,
    trialEndsAt: row.trial_ends_at,
    paidUntil: row.paid_until,
    cancelAt: row.cancel_at,
    pauseAt: row.pause_at,
    resumeAt: row.resume_at,
    suspendedAt: row.suspended_at,
    endedAt: row.ended_at,
    endReason: row.end_reason,
    eventNumber: row.event_number,
    nextActionAt: row.next_action_at,
    actionError: row.action_error,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** As it is stored: amounts and limits as texts, because JSON has no whole numbers of that size. */
export function writeTerms(terms: NextTerms | WantedQuotas): string {
  return JSON.stringify(terms, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
}

function readTerms(text: string | null): NextTerms | null {
  if (text === null) return null
  const { quotas, ...terms } = JSON.parse(text) as StoredTerms
  const known = { ...terms, amount: BigInt(terms.amount) }
  return quotas === undefined ? known : { ...known, quotas: toQuotas(quotas) }
}

type StoredTerms = Omit<NextTerms, 'amount' | 'quotas'> & {
  readonly amount: string
  readonly quotas?: StoredQuotas
}
type StoredQuotas = Readonly<
  Record<string, (Omit<WantedQuota, 'limit'> & { readonly limit: string | null }) | null>
>

function readQuotas(text: string | null): WantedQuotas | null {
  return text === null ? null : toQuotas(JSON.parse(text) as StoredQuotas)
}

function toQuotas(stored: StoredQuotas): WantedQuotas {
  const quotas = Object.entries(stored).map(([name, terms]) => {
    const limit = terms?.limit == null ? null : BigInt(terms.limit)
    return [name, terms && { ...terms, limit }] as const
  })
  return Object.fromEntries(quotas)
}
