import { sql, type Kysely, type RawBuilder } from 'kysely'
import { dayOf, type Day } from '../kernel/day.ts'
import { minutes } from '../kernel/duration.ts'
import { idAt, timeOfId } from '../kernel/ids.ts'
import type { Tables } from './tables.ts'
import type { TotalMode } from './total-tables.ts'

// What happened in a stretch of time, by ids: they begin with the time at which they were made, by
// the clocks of the processes. The rows' own times, by the database's clock, then decide.

/** How far the clocks of processes may be off: what is further off is in no total. */
const clockSkew = minutes(10)

/** From its beginning up to the beginning of the next one. */
export interface DaySpan {
  readonly from: Date
  readonly until: Date
}

/** Whose money a sum is of. */
export interface TotalKey {
  readonly gateway: string
  /** Empty: the payments name none. */
  readonly account: string
  readonly mode: TotalMode
  readonly currency: string
}

/** What a sum can be of: charges that were paid, refunds, and refunds that failed afterwards. */
export type MovedKind = 'paid' | 'refunded' | 'returned'

export interface MovedSum extends TotalKey {
  readonly kind: MovedKind
  readonly count: number
  /** Minor units. */
  readonly amount: bigint
}

export interface DisputeCount extends TotalKey {
  readonly status: 'open' | 'won' | 'lost'
  readonly count: number
}

/** Sums of a part of a span. */
export interface SummedMoves {
  readonly sums: readonly MovedSum[]
  /** The last change that was looked at; undefined: there are no further ones. */
  readonly last: string | undefined
}

/** One for each combination that occurs, from the payment's row. */
const keyColumns: RawBuilder<unknown> = sql`payment.gateway,
  coalesce(payment.merchant_account, '') as account,
  case when payment.live then 'live' when not payment.live then 'test' else 'unknown' end as mode,
  payment.currency`

/**
 * Sums the next `most` changes of payments. A charge is paid once, and stays so; a refund is paid
 * once, and may fail after that: each is one change of status, on the day when it was recorded. The
 * changes are taken by the primary key alone, and filtered after that, so that a statement is bounded.
 */
export async function sumMoves(
  db: Kysely<Tables>,
  { from, until }: DaySpan,
  { after, most }: { readonly after: string | undefined; readonly most: number },
): Promise<SummedMoves> {
  const { rows } = await sql<MovedRow>`
    with page as materialized (
      select id, payment_id, from_status, to_status, at from billing.payment_transitions
      where id > ${after ?? idAt(earlier(from))}::uuid and id < ${idAt(later(until))}::uuid
      order by id limit ${most}
    ), moved as materialized (
      select payment_id, to_status = 'paid' as is_paid from page
      where at >= ${from} and at < ${until} and (to_status = 'paid' or from_status = 'paid')
    ), summed as (
      select ${keyColumns},
        case when moved.is_paid then
          case payment.type when 'refund' then 'refunded' else 'paid' end else 'returned' end as kind,
        count(*)::int as count, sum(payment.amount)::text as amount
      from moved join billing.payments as payment on payment.id = moved.payment_id
      group by 1, 2, 3, 4, 5
    ), edge as (
      select (select count(*) from page)::int as looked,
        (select id from page order by id desc limit 1) as last
    )
    select edge.looked, edge.last, summed.* from edge left join summed on true`.execute(db)
  const [first] = rows
  const isLast = first === undefined || first.looked < most
  return {
    sums: rows.flatMap((row) => (row.kind === null ? [] : [sumOf(row)])),
    last: isLast ? undefined : first.last,
  }
}

type MovedRow = { readonly looked: number; readonly last: string } & (
  | { readonly kind: null }
  | (Omit<MovedSum, 'amount'> & { readonly amount: string })
)

function sumOf(row: Exclude<MovedRow, { readonly kind: null }>): MovedSum {
  const { gateway, account, mode, currency, kind, count } = row
  return { gateway, account, mode, currency, kind, count, amount: BigInt(row.amount) }
}

/** Disputes that were opened, and those that were won or lost: a dispute ends once. */
export async function countDisputes(
  db: Kysely<Tables>,
  { from, until }: DaySpan,
): Promise<readonly DisputeCount[]> {
  const { rows } = await sql<DisputeCount>`
    with noted as materialized (
      select payment_id, 'open' as status from billing.disputes
      where id > ${idAt(earlier(from))}::uuid and id < ${idAt(later(until))}::uuid
        and created_at >= ${from} and created_at < ${until}
      union all
      select payment_id, status from billing.disputes
      where updated_at >= ${from} and updated_at < ${until} and status <> 'open'
    )
    select ${keyColumns}, noted.status, count(*)::int as count
    from noted join billing.payments as payment on payment.id = noted.payment_id
    group by 1, 2, 3, 4, 5`.execute(db)
  return rows
}

/** The first day in which a payment may have changed, up to now; undefined: none ever has. */
export async function firstDay(db: Kysely<Tables>, now: Date): Promise<Day | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from billing.payment_transitions order by id limit 1`.execute(db)
  const [first] = rows
  if (first === undefined) return undefined
  return dayOf(earlier(new Date(Math.min(timeOfId(first.id), now.getTime()))))
}

function earlier(at: Date): Date {
  return new Date(Math.max(0, at.getTime() - clockSkew))
}

function later(at: Date): Date {
  return new Date(at.getTime() + clockSkew)
}
