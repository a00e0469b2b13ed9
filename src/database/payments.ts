import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import { snakeCase } from '../kernel/field-names.ts'
import {
  paymentFields,
  type Payment,
  type PaymentJson,
  type PaymentStatus,
  type PaymentTransition,
} from '../payments/payment.ts'
import { paymentOf } from '../wire/payment.ts'
import { givenRows, typeOfKind } from './given-rows.ts'
import { named } from './named-statements.ts'
import { insertionOfKeys, readObject, type Keyed } from './payment-keys.ts'
import type { PaymentsTable, Tables } from './tables.ts'

export async function findPayment(db: Kysely<Tables>, id: string): Promise<Payment | undefined> {
  return (await findPayments(db, [id])).get(id)
}

/** Undefined: there is none yet. */
export async function readNewestPayment(db: Kysely<Tables>): Promise<Payment | undefined> {
  const row = await db
    .selectFrom('billing.payments')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && toPayment(row)
}

/** By id; ids without a payment are left out. */
export async function findPayments(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Payment>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<PaymentRow>`${named('find-payments')}
    select ${paymentColumns} from billing.payments where id = any(${[...ids]}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.id, toPayment(row)]))
}

/** The status of each; ids without a payment are left out. */
export async function readStatuses(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaymentStatus>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('billing.payments')
    .select(['id', 'status'])
    .where('id', '=', sql<string>`any(${[...ids]}::uuid[])`)
    .execute()
  return new Map(rows.map(({ id, status }) => [id, status]))
}

export async function listRefunds(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly Payment[]> {
  const rows = await db
    .selectFrom('billing.payments')
    .selectAll()
    .where('parent_id', '=', paymentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toPayment)
}

export async function listTransitions(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly PaymentTransition[]> {
  const rows = await db
    .selectFrom('billing.payment_transitions')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('at')
    .orderBy('id')
    .execute()
  return rows.map((row) => ({
    from: row.from_status,
    to: row.to_status,
    cause: row.cause,
    webhookCallId: row.webhook_call_id,
    at: row.at,
  }))
}

/** Locks the rows in the order of their ids, so that two transactions never wait for each other. */
export async function lockPayments(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<Map<string, Payment>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<PaymentRow>`${named('lock-payments')}
    select ${paymentColumns} from billing.payments where id = any(${[...ids]}::uuid[])
    order by id for no key update`.execute(db)
  return new Map(rows.map((row) => [row.id, toPayment(row)]))
}

/** What nothing is known of when a payment is written. */
export const unknownAtFirst = { declineCode: null, pollError: null } as const

/** What a charge is of which nothing else is said. */
export const bareCharge = {
  type: 'charge',
  parentId: null,
  status: 'pending',
  metadata: null,
  returnUrl: null,
  checkoutReference: null,
  providerReference: null,
  checkout: 'none',
  checkoutUrl: null,
  operationError: null,
  saveCard: false,
  paymentMethodId: null,
  periodId: null,
  expiresAt: null,
} as const

const setByDatabase = ['handedAt', 'createdAt', 'updatedAt'] as const

/** A row to write. */
export type NewPayment = Omit<
  Payment,
  keyof typeof unknownAtFirst | (typeof setByDatabase)[number] | 'toJSON'
> &
  Pick<Keyed, 'searchedMetadata'> & {
    /** The provider is asked for it right afterwards. */
    readonly isHanded: boolean
    /** How long until it is polled. */
    readonly firstPollAfter: Duration | null
  }

/** A row to write, and the call that recognises the row by this; null: none does. */
export interface WrittenPayment {
  readonly row: NewPayment
  readonly writtenBy: string | null
}

/**
 * The payments that were written, by id: where one has its id already, nothing is written of it. Where
 * two get one id at the same moment, the payment is also found by what the refused one said.
 */
export async function insertPayments(
  db: Kysely<Tables>,
  payments: readonly WrittenPayment[],
): Promise<ReadonlyMap<string, Payment>> {
  if (payments.length === 0) return new Map()
  const { rows } = await sql<PaymentRow>`${named('insert-payments')}
    with keyed as (${insertionOfKeys(payments.map(({ row }) => row))})
    ${insertionOf(payments)} on conflict (id) do nothing returning ${paymentColumns}`.execute(db)
  return new Map(rows.map((row) => [row.id, toPayment(row)]))
}

/** Undefined: its id is taken. */
export async function insertPayment(
  db: Kysely<Tables>,
  row: NewPayment,
  writtenBy: string | null = null,
): Promise<Payment | undefined> {
  return (await insertPayments(db, [{ row, writtenBy }])).get(row.id)
}

/** Writes nothing where a payment has its reference already: another report of it came first. */
export async function insertRenewal(db: Kysely<Tables>, payment: NewPayment): Promise<void> {
  const { rows } = await sql`${named('insert-renewal')}
    ${insertionOf([{ row: payment, writtenBy: null }])} on conflict do nothing returning id`.execute(
    db,
  )
  if (rows.length === 1) await insertionOfKeys([payment], 'known').execute(db)
}

function insertionOf(payments: readonly WrittenPayment[]): RawBuilder<unknown> {
  return sql`
    insert into billing.payments (${givenColumns}, written_by, handed_at, next_poll_at)
    select ${givenColumns}, written_by,
      statement_timestamp() + make_interval(secs => handed_after),
      statement_timestamp() + make_interval(secs => first_poll_after)
    from ${givenRows(givenTypes, payments.map(givenRow))}`
}

const notGiven = new Set<string>([...Object.keys(unknownAtFirst), ...setByDatabase, 'payable'])
const givenFields = Object.entries(paymentFields).filter(([name]) => !notGiven.has(name))

const columnTypes = {
  ...Object.fromEntries(givenFields.map(([name, { kind }]) => [snakeCase(name), typeOfKind(kind)])),
  payable_type: 'text',
  payable_id: 'text',
}
const givenColumns = sql.raw(Object.keys(columnTypes).join(', '))
const givenTypes: Readonly<Record<string, string>> = {
  ...columnTypes,
  written_by: 'uuid',
  handed_after: 'double precision',
  first_poll_after: 'double precision',
}

/** A gateway of the app may be JavaScript: what it leaves undefined is null. */
function givenRow({ row, writtenBy }: WrittenPayment): Readonly<Record<string, unknown>> {
  const { payable, isHanded, firstPollAfter, ...given } = row
  const values: Readonly<Record<string, unknown>> = given
  const columns = givenFields.map(([name, { kind }]) => {
    const value = values[name] ?? null
    const isText = kind === 'object' && value !== null
    return [snakeCase(name), isText ? JSON.stringify(value) : value]
  })
  return {
    ...Object.fromEntries(columns),
    payable_type: payable.type,
    payable_id: payable.id,
    written_by: writtenBy,
    handed_after: isHanded ? 0 : null,
    first_poll_after: firstPollAfter === null ? null : firstPollAfter / 1000,
  }
}

/**
 * Whether this very call wrote the row: its commit may have succeeded and its answer been lost. A
 * call that finds its own row has to go on with it, because nobody else will.
 */
export async function isWrittenBy(
  db: Kysely<Tables>,
  id: string,
  writtenBy: string,
): Promise<boolean> {
  const row = db.selectFrom('billing.payments').select('id').where('id', '=', id)
  return (await row.where('written_by', '=', writtenBy).executeTakeFirst()) !== undefined
}

type Name = Exclude<keyof PaymentJson, 'payable'> | 'payable_type' | 'payable_id'
/** Columns that `toPayment` reads: one for each field, but two for the payable. */
const columns = Object.keys(paymentFields).flatMap((name) => {
  return name === 'payable' ? ['payable_type', 'payable_id'] : [snakeCase(name)]
}) as Name[]

export type PaymentRow = Pick<Selectable<PaymentsTable>, Name>
export const paymentColumns = sql.raw(columns.join(', '))

export function toPayment(row: PaymentRow): Payment {
  return paymentOf({
    id: row.id,
    type: row.type,
    parentId: row.parent_id,
    gateway: row.gateway,
    merchantAccount: row.merchant_account,
    live: row.live,
    status: row.status,
    amount: row.amount,
    currency: row.currency,
    payable: { type: row.payable_type, id: row.payable_id },
    description: row.description,
    customer: readObject(row.customer),
    metadata: readObject(row.metadata),
    returnUrl: row.return_url,
    checkoutReference: row.checkout_reference,
    providerReference: row.provider_reference,
    checkout: row.checkout,
    checkoutUrl: row.checkout_url,
    operationError: row.operation_error,
    declineCode: row.decline_code,
    pollError: row.poll_error,
    saveCard: row.save_card,
    paymentMethodId: row.payment_method_id,
    periodId: row.period_id,
    handedAt: row.handed_at,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  })
}
