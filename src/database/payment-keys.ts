import { hash } from 'node:crypto'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { FilterValues } from '../kernel/noun.ts'
import type { Payable, Payment, paymentFilters } from '../payments/payment.ts'
import type { Database } from './connect.ts'
import { givenRows } from './given-rows.ts'
import { interval } from './interval.ts'
import { minutes } from '../kernel/duration.ts'
import { formatMajorUnits, type Money } from '../kernel/money.ts'
import type { Tables } from './tables.ts'

/** What payments are looked up by. */
export interface PaymentLookup extends Pick<
  FilterValues<typeof paymentFilters>,
  'payable' | 'customer'
> {}

/** What of a payment it is found by, besides its amount and day. */
export interface Keyed extends Pick<Payment, 'payable' | 'customer' | 'metadata'> {
  /** The names of metadata that payments are found by: a setting. */
  readonly searchedMetadata?: readonly string[]
}

/** The keys that a payment must have to be found. */
export function keysSought({ payable, customer }: PaymentLookup): readonly Buffer[] {
  return [
    ...(payable === undefined ? [] : [payableKey(payable)]),
    ...(customer === undefined ? [] : [customerKey(customer)]),
  ]
}

/** The keys under which a payment is found, but for that of its amount, which needs its day. */
export function keysOf({ payable, customer, metadata, searchedMetadata = [] }: Keyed) {
  const names = [customer?.['id'], customer?.['email']].flatMap(wordsOf)
  const phones = wordsOf(customer?.['phone']).flatMap((phone) => phoneKey(phone) ?? [])
  const facts = searchedMetadata.flatMap((name) =>
    wordsOf(metadata?.[name]).map((word) => metadataKey(name, word)),
  )
  const keys = [payableKey(payable), payableIdKey(payable.id), ...names.map(customerKey)]
  return [...keys, ...phones, ...facts]
}

/** What is written as a text or a number, and not blank. */
export function wordsOf(value: unknown): readonly string[] {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : ''
  return text === '' ? [] : [text]
}

export function payableKey({ type, id }: Payable): Buffer {
  return keyOf('payable', type, id)
}

/** By the id alone, whatever the type. */
export function payableIdKey(id: string): Buffer {
  return keyOf('payable_id', id)
}

/** By the id or the e-mail address: capitals do not count in an address. */
export function customerKey(text: string): Buffer {
  const trimmed = text.trim()
  return keyOf('customer', trimmed.includes('@') ? trimmed.toLowerCase() : trimmed)
}

const phoneNumber = /^(?:\+|00)?(\d{6,15})$/

/** However it is grouped, and with or without a plus; undefined for what is no phone number. */
export function phoneKey(text: string): Buffer | undefined {
  const [, digits] = phoneNumber.exec(text.replaceAll(/[\s().\-/]/g, '')) ?? []
  return digits === undefined ? undefined : keyOf('phone', `+${digits}`)
}

export function metadataKey(name: string, text: string): Buffer {
  return keyOf('metadata', name, text.trim())
}

/** `majorUnits` as `formatMajorUnits` writes them, of any currency; `day` in UTC: `2026-11-22`. */
export function amountKey(majorUnits: string, day: string): Buffer {
  return keyOf(...amountWords(majorUnits), day)
}

function amountWords(majorUnits: string): readonly string[] {
  return ['amount', majorUnits]
}

/** Half of a SHA-256 is enough, and short. */
function keyOf(...texts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(texts), 'buffer').subarray(0, 16)
}

/**
 * Writes the keys of payments, in the statement that writes the payments: it reads nothing that the
 * statement writes, so that one server runs it whole. `known`: they were written before. The database
 * knows their day. A charge is looked up by its keys, which come with it; a refund is found by its charge.
 */
export function insertionOfKeys(
  payments: readonly WrittenKeyed[],
  as: 'new' | 'known' = 'new',
): RawBuilder<unknown> {
  const charges = payments.filter(({ type }) => type === 'charge')
  const known = charges.flatMap((one) => keysOf(one).map((key) => ({ id: one.id, key })))
  const priced = charges.flatMap((one) => {
    const majorUnits = formatMajorUnits(one)
    if (majorUnits === undefined) return []
    // The text of keyOf up to the day, of which nothing has to be escaped.
    const begun = `${JSON.stringify(amountWords(majorUnits)).slice(0, -1)},"`
    return [{ id: one.id, begun }]
  })
  const at = as === 'new' ? sql`statement_timestamp()::timestamptz(3)` : sql`payment.created_at`
  const among =
    as === 'new'
      ? sql`left join billing.payments as payment on payment.id = given.id where payment.id is null`
      : sql`join billing.payments as payment on payment.id = given.id`
  const day = sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD')`
  return sql`
    insert into billing.payment_keys (key, created_at, payment_id)
    select key, ${at}, given.id from ${givenRows({ id: 'uuid', key: 'bytea' }, known)} ${among}
    union all
    select substring(sha256(convert_to(begun || ${day} || '"]', 'UTF8')), 1, 16), ${at}, given.id
    from ${givenRows({ id: 'uuid', begun: 'text' }, priced)} ${among}
    on conflict do nothing`
}

type WrittenKeyed = Keyed & Money & Pick<Payment, 'id' | 'type'>

/** Its commit may come later than its time: younger payments are left to the next walk. */
const youngest = minutes(2)
const rowsAtOnce = 1_000

/**
 * Each setting has its own walk over all payments. It reaches payments written before the setting
 * changed, and payments that a process with the previous setting writes during the rollout.
 */
function walkOf(searchedMetadata: readonly string[]): string {
  return `payment keys 2 ${JSON.stringify(searchedMetadata.toSorted())}`
}

/**
 * Gives payments the keys that they lack, oldest first, and remembers how far it has come; a
 * payment is looked at once. Payments lack the keys of metadata that the setting did not name when
 * they were written. Returns how many were looked at; none: all have their keys.
 */
async function addMissingKeys(
  db: Kysely<Tables>,
  searchedMetadata: readonly string[],
): Promise<number> {
  const walk = walkOf(searchedMetadata)
  const metadata = searchedMetadata.length === 0 ? sql`null::json` : sql`metadata`
  const { rows } = await sql<KeylessRow>`
    select id, created_at, type, amount, currency, payable_type, payable_id, customer,
      ${metadata} as metadata
    from billing.payments
    where (created_at, id) > (
        coalesce((select created_at from billing.walks where name = ${walk}), '-infinity'),
        coalesce((select payment_id from billing.walks where name = ${walk}), ${lowest}::uuid))
      and created_at < statement_timestamp() - ${interval(youngest)}
    order by created_at, id limit ${rowsAtOnce}`.execute(db)
  const last = rows.at(-1)
  if (last === undefined) return 0
  await insertKeys(db, rows, searchedMetadata)
  await sql`
    insert into billing.walks (name, created_at, payment_id)
    values (${walk}, ${last.created_at}, ${last.id})
    on conflict (name) do update
    set created_at = excluded.created_at, payment_id = excluded.payment_id`.execute(db)
  return rows.length
}

const lowest = '00000000-0000-0000-0000-000000000000'

interface KeylessRow extends Money {
  readonly id: string
  readonly created_at: Date
  readonly type: Payment['type']
  readonly payable_type: string
  readonly payable_id: string
  readonly customer: string | null
  readonly metadata: string | null
}

async function insertKeys(
  db: Kysely<Tables>,
  rows: readonly KeylessRow[],
  searchedMetadata: readonly string[],
): Promise<void> {
  const keyed = rows
    .filter(({ type }) => type === 'charge')
    .flatMap((row) => keysOfRow(row, searchedMetadata).map((key) => ({ key, row })))
  await sql`
    insert into billing.payment_keys (key, created_at, payment_id)
    select * from unnest(
      ${keyed.map(({ key }) => key)}::bytea[],
      ${keyed.map(({ row }) => row.created_at)}::timestamptz[],
      ${keyed.map(({ row }) => row.id)}::uuid[])
    on conflict do nothing`.execute(db)
}

function keysOfRow(row: KeylessRow, searchedMetadata: readonly string[]): readonly Buffer[] {
  const payable = { type: row.payable_type, id: row.payable_id }
  const [customer, metadata] = [row.customer, row.metadata].map(readObject)
  const keys = keysOf({
    payable,
    customer: customer ?? null,
    metadata: metadata ?? null,
    searchedMetadata,
  })
  const majorUnits = formatMajorUnits(row)
  const day = row.created_at.toISOString().slice(0, 10)
  return majorUnits === undefined ? keys : [...keys, amountKey(majorUnits, day)]
}

/** Of a column that holds the text of an object. */
export function readObject(text: string | null): Payment['metadata'] {
  return text === null ? null : (JSON.parse(text) as Payment['metadata'])
}

/** A run of each minute leaves the database to others in between: 200,000 payments at most. */
const mostTimes = 200

/**
 * Makes payments findable by the metadata that the setting names since it was changed. The next run
 * goes on where this one ends.
 */
export async function addPaymentKeys(
  { db }: Database,
  searchedMetadata: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  for (let times = 0; times < mostTimes && !signal.aborted; times += 1) {
    if ((await addMissingKeys(db, searchedMetadata)) === 0) return
  }
}
