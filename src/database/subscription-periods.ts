import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { Payment } from '../payments/payment.ts'
import { attemptId } from '../subscriptions/open-period.ts'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { givenRows, type ColumnTypes } from './given-rows.ts'
import { named } from './named-statements.ts'
import { pageLimit, toPage, readCursor, type Page, type PageQuery } from './page.ts'
import { toPayment } from './payments.ts'
import type { SubscriptionPeriodsTable } from './subscription-tables.ts'
import type { Tables } from './tables.ts'

export async function findPeriod(
  db: Kysely<Tables>,
  id: string,
): Promise<SubscriptionPeriod | undefined> {
  return (await findPeriods(db, [id])).get(id)
}

/** By id; ids without a period are left out. */
export async function findPeriods(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SubscriptionPeriod>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<PeriodRow>`${named('find-periods')}
    select ${periodColumns} from billing.subscription_periods
    where id = any(${[...ids]}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.id, toPeriod(row)]))
}

/**
 * The latest first, by the time that a period is for. Its number says when we heard of it: the
 * provider of a managed subscription may tell of a later period first.
 */
const latestFirst = sql`order by starts_at desc, number desc`

/** The granted period with the latest start that has begun, if `onlyIf` holds; a query. */
export function currentPeriodOf(
  subscriptionId: RawBuilder<unknown>,
  { now, onlyIf = sql`true` }: { readonly now: Date; readonly onlyIf?: RawBuilder<unknown> },
): RawBuilder<unknown> {
  return sql`select id, starts_at, ends_at from billing.subscription_periods
    where subscription_id = ${subscriptionId} and ${onlyIf}
      and state in ('paid', 'free') and starts_at <= ${now} ${latestFirst} limit 1`
}

/** The periods of a subscription, the latest first. */
export async function listPeriods(
  db: Kysely<Tables>,
  { subscriptionId, ...query }: PageQuery & { readonly subscriptionId: string },
): Promise<Page<SubscriptionPeriod>> {
  const limit = pageLimit(query)
  const after = readCursor(query.cursor)
  let select = db
    .selectFrom('billing.subscription_periods')
    .selectAll()
    .where('subscription_id', '=', subscriptionId)
    .orderBy('starts_at', 'desc')
    .orderBy('number', 'desc')
    .limit(limit + 1)
  if (after !== undefined) {
    select = select.where(sql<boolean>`(starts_at, number) < (
      select last.starts_at, last.number
      from billing.subscription_periods as last where last.id = ${after.id})`)
  }
  const rows = await select.execute()
  return toPage(rows.map(toPeriod), query, ({ id, startsAt }) => ({ at: startsAt, id }))
}

/** Those of its periods that a decision needs. */
export interface StandingPeriods {
  /** The period that waits for its money. */
  readonly open: SubscriptionPeriod | null
  /** The granted period with the latest start, whether or not it has begun. */
  readonly current: SubscriptionPeriod | null
  /** -1: it has none. */
  readonly lastNumber: number
}

/** By subscription. */
export async function readStandingPeriods(
  db: Kysely<Tables>,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, StandingPeriods>> {
  if (subscriptionIds.length === 0) return new Map()
  const { rows } = await sql<PeriodRow>`${named('read-standing-periods')}
    select ${namesOf('period')} from billing.subscriptions as subscription, lateral (
      (select ${periodColumns} from billing.subscription_periods
        where subscription_id = subscription.id and state = 'open')
      union all
      (select ${periodColumns} from billing.subscription_periods
        where subscription_id = subscription.id and state in ('paid', 'free')
        ${latestFirst} limit 1)
      union all
      (select ${periodColumns} from billing.subscription_periods
        where subscription_id = subscription.id order by number desc limit 1)) as period
    where subscription.id = any(${[...subscriptionIds]}::uuid[])`.execute(db)
  const periods = Map.groupBy(rows.map(toPeriod), ({ subscriptionId }) => subscriptionId)
  return new Map(subscriptionIds.map((id) => [id, standing(periods.get(id) ?? [])]))
}

function standing(periods: readonly SubscriptionPeriod[]): StandingPeriods {
  return {
    open: periods.find(({ state }) => state === 'open') ?? null,
    current: periods.find(({ state }) => state === 'paid' || state === 'free') ?? null,
    lastNumber: Math.max(-1, ...periods.map((period) => period.number)),
  }
}

/** So many are looked at where a provider names one by its time. */
const latest = 60

export interface LatestPeriods {
  /** The latest first. */
  readonly periods: readonly SubscriptionPeriod[]
  /** The highest number of all; -1: the subscription has no period. */
  readonly lastNumber: number
}

export async function readLatestPeriods(
  db: Kysely<Tables>,
  subscriptionId: string,
): Promise<LatestPeriods> {
  const { rows } = await sql<PeriodRow & { readonly last_number: number }>`
    select ${periodColumns}, (
      select max(number) from billing.subscription_periods
      where subscription_id = ${subscriptionId}::uuid
    ) as last_number
    from billing.subscription_periods
    where subscription_id = ${subscriptionId}::uuid ${latestFirst} limit ${latest}`.execute(db)
  return { periods: rows.map(toPeriod), lastNumber: rows[0]?.last_number ?? -1 }
}

/** Columns that `toPeriod` reads, and their types. */
const columns = {
  id: 'uuid',
  subscription_id: 'uuid',
  number: 'integer',
  kind: 'text',
  state: 'text',
  starts_at: 'timestamptz',
  ends_at: 'timestamptz',
  nominal_starts_at: 'timestamptz',
  amount: 'bigint',
  currency: 'text',
  status_before: 'text',
  skipped_periods: 'integer',
  time_assumed: 'boolean',
  payments_made: 'integer',
  declines: 'integer',
  not_made: 'integer',
  first_failed_at: 'timestamptz',
  next_attempt_at: 'timestamptz',
  needs: 'text',
  paid_payment_id: 'uuid',
  paid_at: 'timestamptz',
  last_notice: 'integer',
} as const satisfies ColumnTypes<SubscriptionPeriodsTable>

type PeriodRow = Pick<Selectable<SubscriptionPeriodsTable>, keyof typeof columns>
const periodColumns = sql.raw(Object.keys(columns).join(', '))
const namesOf = (table: 'period' | 'given') =>
  sql.raw(
    Object.keys(columns)
      .map((column) => `${table}.${column}`)
      .join(', '),
  )

function toPeriod(row: PeriodRow): SubscriptionPeriod {
  return {
    id: row.id,
    subscriptionId: row.subscription_id,
    number: row.number,
    kind: row.kind,
    state: row.state,
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    nominalStartsAt: row.nominal_starts_at,
    amount: row.amount,
    currency: row.currency,
    statusBefore: row.status_before,
    skippedPeriods: row.skipped_periods,
    isTimeAssumed: row.time_assumed,
    paymentsMade: row.payments_made,
    declines: row.declines,
    notMade: row.not_made,
    firstFailedAt: row.first_failed_at,
    nextAttemptAt: row.next_attempt_at,
    needs: row.needs,
    paidPaymentId: row.paid_payment_id,
    paidAt: row.paid_at,
    lastNotice: row.last_notice,
  }
}

/**
 * Every payment that was made for one of these periods: by the time of the period, then by the number
 * of the attempt, for several payments may be of the same time.
 */
export async function listPaymentsOfPeriods(
  db: Kysely<Tables>,
  periods: readonly SubscriptionPeriod[],
): Promise<readonly Payment[]> {
  if (periods.length === 0) return []
  const rows = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where(
      'period_id',
      'in',
      periods.map(({ id }) => id),
    )
    .where('type', '=', 'charge')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const inOrder = periods.toSorted(
    (one, other) => one.startsAt.getTime() - other.startsAt.getTime() || one.number - other.number,
  )
  const attempts = inOrder.flatMap(attemptsOf)
  const places = new Map(attempts.map((id, place) => [id, place]))
  // One that was made since the periods were read comes last.
  const placeOf = ({ id }: Payment) => places.get(id) ?? places.size
  return rows.map(toPayment).toSorted((one, other) => placeOf(one) - placeOf(other))
}

function attemptsOf(period: SubscriptionPeriod): readonly string[] {
  return Array.from({ length: period.paymentsMade }, (_, made) => attemptId(period, made + 1))
}

/**
 * Makes or changes periods, under the locks of their subscriptions; what closes comes first, for only
 * one of a subscription may be open at a time. Returns the ids of those that have a document, which
 * stays so under these locks.
 */
export async function upsertPeriods(
  db: Kysely<Tables>,
  periods: readonly SubscriptionPeriod[],
): Promise<ReadonlySet<string>> {
  if (periods.length === 0) return new Set()
  const isOpen = ({ state }: SubscriptionPeriod) => Number(state === 'open')
  const ordered = periods.toSorted((a, b) => isOpen(a) - isOpen(b))
  // What was granted, or given up, stays so; and by what it was paid. Only a provider is paid for
  // what was given up here.
  const { rows } = await sql<{ id: string; hasInvoice: boolean }>`${named('upsert-periods')}
    with written as (
    insert into billing.subscription_periods as known (${periodColumns})
    select ${namesOf('given')} from ${givenRows(columns, ordered.map(toRow))}
    on conflict (id) do update set ${changing}
    where known.state = 'open'
      or (known.state = 'void' and excluded.state = 'paid') or (known.state = excluded.state
      and known.paid_payment_id is not distinct from excluded.paid_payment_id)
    returning id)
    select id, exists (select from billing.invoices where period_id = written.id) as "hasInvoice"
    from written`.execute(db)
  const written = new Map(rows.map(({ id, hasInvoice }) => [id, hasInvoice]))
  const missing = periods.find(({ id }) => !written.has(id))
  if (missing !== undefined) throw outOfDate(`period ${missing.id}`)
  return new Set([...written].flatMap(([id, hasInvoice]) => (hasInvoice ? [id] : [])))
}

const fixed = new Set([
  'id',
  'subscription_id',
  'number',
  'kind',
  'nominal_starts_at',
  'status_before',
  'skipped_periods',
])
const changing = sql.raw(
  Object.keys(columns)
    .filter((column) => !fixed.has(column))
    .map((column) => `${column} = excluded.${column}`)
    .join(', '),
)

function toRow(period: SubscriptionPeriod): PeriodRow {
  return {
    id: period.id,
    subscription_id: period.subscriptionId,
    number: period.number,
    kind: period.kind,
    state: period.state,
    starts_at: period.startsAt,
    ends_at: period.endsAt,
    nominal_starts_at: period.nominalStartsAt,
    amount: period.amount,
    currency: period.currency,
    status_before: period.statusBefore,
    skipped_periods: period.skippedPeriods,
    time_assumed: period.isTimeAssumed,
    payments_made: period.paymentsMade,
    declines: period.declines,
    not_made: period.notMade,
    first_failed_at: period.firstFailedAt,
    next_attempt_at: period.nextAttemptAt,
    needs: period.needs,
    paid_payment_id: period.paidPaymentId,
    paid_at: period.paidAt,
    last_notice: period.lastNotice,
  }
}

export function outOfDate(what: string): Error {
  return new Error(`a decision about ${what} is out of date, and was not written`)
}
