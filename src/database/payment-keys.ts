import { hash } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import type { Payable, Payment } from '../payments/payment.ts'
import { interval } from './interval.ts'
import { minutes } from '../kernel/duration.ts'
import type { Tables } from './tables.ts'

/** What payments are looked up by. */
export interface PaymentLookup {
  /** The merchant's own object that they pay for. */
  readonly payable?: Payable
  /** The `id` or the `email` of their `customer`. */
  readonly customer?: string
}

type Keyed = Pick<Payment, 'payable' | 'customer'>

/** The keys that a payment must have to be found. */
export function keysSought({ payable, customer }: PaymentLookup): readonly Buffer[] {
  return [
    ...(payable === undefined ? [] : [payableKey(payable)]),
    ...(customer === undefined ? [] : [customerKey(customer)]),
  ]
}

/** The keys under which a payment is found. */
export function keysOf({ payable, customer }: Keyed): readonly Buffer[] {
  const names = [customer?.['id'], customer?.['email']]
  const texts = names.filter((name) => typeof name === 'string' || typeof name === 'number')
  return [payableKey(payable), ...texts.map((text) => customerKey(String(text)))]
}

function payableKey({ type, id }: Payable): Buffer {
  return keyOf('payable', type, id)
}

/** Capitals do not count in an address. */
function customerKey(text: string): Buffer {
  const trimmed = text.trim()
  return keyOf('customer', trimmed.includes('@') ? trimmed.toLowerCase() : trimmed)
}

/** Half of a SHA-256 is enough, and short. */
function keyOf(...texts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(texts), 'buffer').subarray(0, 16)
}

/** Its commit may come later than its time: younger payments are left to the next walk. */
const youngest = minutes(2)
const walk = 'payment keys'
const rowsAtOnce = 1_000

/**
 * Gives payments the keys that they lack, oldest first, and remembers how far it has come; a
 * payment is looked at once. Those of before there were keys lack them, and what an older process
 * writes beside this one. Returns how many were looked at; none: all have their keys.
 */
export async function addMissingKeys(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<KeylessRow>`
    select id, created_at, type, payable_type, payable_id, customer from billing.payments
    where (created_at, id) > (
        coalesce((select created_at from billing.walks where name = ${walk}), '-infinity'),
        coalesce((select payment_id from billing.walks where name = ${walk}), ${lowest}::uuid))
      and created_at < statement_timestamp() - ${interval(youngest)}
    order by created_at, id limit ${rowsAtOnce}`.execute(db)
  const last = rows.at(-1)
  if (last === undefined) return 0
  await insertKeys(db, rows)
  await sql`
    insert into billing.walks (name, created_at, payment_id)
    values (${walk}, ${last.created_at}, ${last.id})
    on conflict (name) do update
    set created_at = excluded.created_at, payment_id = excluded.payment_id`.execute(db)
  return rows.length
}

const lowest = '00000000-0000-0000-0000-000000000000'

interface KeylessRow {
  readonly id: string
  readonly created_at: Date
  readonly type: Payment['type']
  readonly payable_type: string
  readonly payable_id: string
  readonly customer: string | null
}

async function insertKeys(db: Kysely<Tables>, rows: readonly KeylessRow[]): Promise<void> {
  const keyed = rows
    .filter(({ type }) => type === 'charge')
    .flatMap((row) => keysOf(keyedOf(row)).map((key) => ({ key, row })))
  await sql`
    insert into billing.payment_keys (key, created_at, payment_id)
    select * from unnest(
      ${keyed.map(({ key }) => key)}::bytea[],
      ${keyed.map(({ row }) => row.created_at)}::timestamptz[],
      ${keyed.map(({ row }) => row.id)}::uuid[])
    on conflict do nothing`.execute(db)
}

function keyedOf(row: KeylessRow): Keyed {
  const customer = row.customer === null ? null : (JSON.parse(row.customer) as Payment['customer'])
  return { payable: { type: row.payable_type, id: row.payable_id }, customer }
}
