import type { Database } from '../database/connect.ts'
import {
  completeDays,
  replaceDay,
  type AccountTotals,
  type CountedMoney,
} from '../database/day-totals.ts'
import { databaseNow } from '../database/now.ts'
import {
  countDisputes,
  firstDay,
  sumMoves,
  type DaySpan,
  type DisputeCount,
  type MovedKind,
  type MovedSum,
  type TotalKey,
} from '../database/sum-day.ts'
import { countDays, dayAfter, dayOf, startOfDay, type Day } from '../kernel/day.ts'

/** Changes that a statement looks at, each with its payment. */
const movesAtOnce = 4_000
/** Statements that a run spends on the past: two million changes, or some five hundred quiet days. */
const mostLooks = 500

/** How much a run does at a time; smaller for tests. */
export interface TotalDaysOptions {
  readonly signal?: AbortSignal
  readonly movesAtOnce?: number
  readonly mostLooks?: number
}

interface Looks {
  readonly atOnce: number
  readonly signal: AbortSignal | undefined
}

/**
 * Computes the totals of today and yesterday anew, and then of earlier days that were never computed
 * after their end, the oldest first: some of them, so that a long history takes many runs. Each day
 * is replaced as a whole. If it is killed, the next run begins the day again that it was at. Returns
 * how many days were computed.
 */
export async function totalDays(
  database: Database,
  { signal, ...sizes }: TotalDaysOptions = {},
): Promise<number> {
  const looks: Looks = { atOnce: sizes.movesAtOnce ?? movesAtOnce, signal }
  const now = await databaseNow(database.db)
  const today = dayOf(now)
  const yesterday = dayAfter(today, -1)
  for (const day of [today, yesterday]) await totalDay(database, day, looks)
  let computed = 2
  let left = sizes.mostLooks ?? mostLooks
  for (const day of await missingDays(database, now)) {
    if (left <= 0) break
    left -= await totalDay(database, day, looks)
    computed += 1
  }
  return computed
}

/** Before yesterday, since the first change of a payment. */
async function missingDays({ db }: Database, now: Date): Promise<readonly Day[]> {
  const since = await firstDay(db, now)
  if (since === undefined) return []
  const complete = await completeDays(db, since)
  const count = Math.max(0, countDays(since, dayOf(now)) - 2)
  return Array.from({ length: count }, (_, index) => dayAfter(since, index)).filter(
    (day) => !complete.has(day),
  )
}

/** Returns how many statements looked at its changes. */
async function totalDay(database: Database, day: Day, { atOnce, signal }: Looks): Promise<number> {
  const { db } = database
  const computedAt = await databaseNow(db)
  const span: DaySpan = { from: startOfDay(day), until: startOfDay(dayAfter(day)) }
  const totals = new Map<string, AccountTotals>()
  let looked = 0
  let after: string | undefined
  do {
    signal?.throwIfAborted()
    const { sums, last } = await sumMoves(db, span, { after, most: atOnce })
    for (const sum of sums) add(totals, sum, withMoney(sum))
    after = last
    looked += 1
  } while (after !== undefined)
  for (const count of await countDisputes(db, span)) add(totals, count, withDisputes(count))
  await database.transaction((transaction) =>
    replaceDay(transaction, { day, computedAt }, [...totals.values()]),
  )
  return looked
}

function add(
  totals: Map<string, AccountTotals>,
  { gateway, account, mode, currency }: TotalKey,
  change: (known: AccountTotals) => AccountTotals,
): void {
  const key = JSON.stringify([gateway, account, mode, currency])
  totals.set(key, change(totals.get(key) ?? { gateway, account, mode, currency, ...none }))
}

const noMoney: CountedMoney = { count: 0, amount: 0n }
const none: Omit<AccountTotals, keyof TotalKey> = {
  paid: noMoney,
  refunded: noMoney,
  returned: noMoney,
  opened: 0,
  won: 0,
  lost: 0,
}

function withMoney({ kind, ...sum }: MovedSum) {
  return (known: AccountTotals): AccountTotals => ({ ...known, [kind]: more(known, kind, sum) })
}

function more(known: AccountTotals, kind: MovedKind, { count, amount }: CountedMoney) {
  return { count: known[kind].count + count, amount: known[kind].amount + amount }
}

const ends = { open: 'opened', won: 'won', lost: 'lost' } as const

function withDisputes({ status, count }: DisputeCount) {
  const name = ends[status]
  return (known: AccountTotals): AccountTotals => ({ ...known, [name]: known[name] + count })
}
