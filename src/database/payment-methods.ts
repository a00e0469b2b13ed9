import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely'
import type { Duration } from '../kernel/duration.ts'
import type { FilterValues } from '../kernel/noun.ts'
import type { PaymentMethodOutcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import { paymentMethodFilters, type PaymentMethod } from '../payments/payment-method.ts'
import { conditionsOf } from './conditions.ts'
import { interval } from './interval.ts'
import { named } from './named-statements.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import { customerKey, payableKey, readObject, wordsOf } from './payment-keys.ts'
import type { PaymentMethodsTable, Tables } from './tables.ts'

/** What is stored of a reported card. */
export interface ReportedPaymentMethod {
  /** The id of the row, if it is new. */
  readonly id: string
  readonly gateway: string
  readonly outcome: PaymentMethodOutcome
  readonly paymentId: string | null
  /** Encrypted. */
  readonly token: Uint8Array | null
}

/** Writes the row, or adds what it lacked; a detached card stays detached. */
export async function upsertPaymentMethod(
  db: Kysely<Tables>,
  { id, gateway, outcome, paymentId, token }: ReportedPaymentMethod,
): Promise<PaymentMethod> {
  const { status, reference, merchantAccount = null, live = null, details = {} } = outcome
  const { kind = null, brand = null, lastFour = null } = details
  const expiryMonth = inRange(details.expiryMonth, 1, 12)
  const expiryYear = inRange(details.expiryYear, 1970, 9999)
  const { rows } = await sql<Selectable<PaymentMethodsTable>>`
    insert into billing.payment_methods as known (id, gateway, merchant_account, live, status,
      provider_reference, customer_reference, payment_id, kind, brand, last_four, expiry_month,
      expiry_year, token)
    values (${id}::uuid, ${gateway}, ${merchantAccount}, ${live}, ${status}, ${reference},
      ${outcome.customerReference ?? null}, ${paymentId}::uuid, ${kind}, ${brand}, ${lastFour},
      ${expiryMonth}, ${expiryYear}, ${token === null ? null : Buffer.from(token)})
    on conflict (gateway, provider_reference, coalesce(merchant_account, '')) do update set
      status = case when known.status = 'detached' then known.status else excluded.status end,
      customer_reference = coalesce(known.customer_reference, excluded.customer_reference),
      payment_id = coalesce(known.payment_id, excluded.payment_id),
      live = coalesce(known.live, excluded.live),
      kind = coalesce(excluded.kind, known.kind),
      brand = coalesce(excluded.brand, known.brand),
      last_four = coalesce(excluded.last_four, known.last_four),
      expiry_month = coalesce(excluded.expiry_month, known.expiry_month),
      expiry_year = coalesce(excluded.expiry_year, known.expiry_year),
      token = case when known.status = 'attached' and excluded.status = 'attached'
        then coalesce(known.token, excluded.token) end,
      updated_at = excluded.updated_at
    returning *`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error(`payment method ${gateway}/${reference} was not written`)
  return toPaymentMethod(row)
}

/** Details that only describe a card must not fail the call that brought them. */
function inRange(value: number | undefined, least: number, most: number): number | null {
  const isWithin = Number.isInteger(value) && value !== undefined && value >= least && value <= most
  return isWithin ? value : null
}

export async function findPaymentMethod(
  db: Kysely<Tables>,
  id: string,
): Promise<PaymentMethod | undefined> {
  return (await findPaymentMethods(db, [id])).get(id)
}

/** By id; ids without a card are left out. */
export async function findPaymentMethods(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaymentMethod>> {
  const cards = await findSavedCards(db, ids)
  return new Map(cards.map(({ method }) => [method.id, method]))
}

/** The same with its token as stored: encrypted; null without one. */
export async function findSavedCards(
  db: Kysely<Tables>,
  ids: readonly string[],
): Promise<readonly { readonly method: PaymentMethod; readonly token: Uint8Array | null }[]> {
  if (ids.length === 0) return []
  const { rows } = await sql<PaymentMethodRow>`${named('find-payment-methods')}
    select ${methodColumns} from billing.payment_methods where id = any(${[...ids]}::uuid[])`.execute(
    db,
  )
  return rows.map((row) => ({ method: toPaymentMethod(row), token: row.token }))
}

/** With one key: the id of one customer may be the e-mail address of another. */
const mostLooked = 20

/**
 * The provider's id of the payer with this payment's `customer.id`, in its account and mode: that of
 * the card that was saved last. It stands in what the provider signed. Undefined: none is known.
 */
export async function findCustomer(
  db: Kysely<Tables>,
  { gateway, merchantAccount, live, customer }: Payment,
): Promise<string | undefined> {
  const [id] = wordsOf(customer?.['id'])
  if (id === undefined) return undefined
  const { rows } = await sql<{ readonly reference: string; readonly customer: string | null }>`
    select method.customer_reference as reference, payment.customer
    from billing.payment_keys as known
    join billing.payments as payment on payment.id = known.payment_id
    join billing.payment_methods as method on method.payment_id = known.payment_id
    where known.key = ${customerKey(id)} and method.gateway = ${gateway}
      and method.customer_reference is not null
      and method.merchant_account is not distinct from ${merchantAccount}
      and (${live}::boolean is null or method.live = ${live})
    order by method.id desc limit ${mostLooked}`.execute(db)
  return rows.find((row) => wordsOf(readObject(row.customer)?.['id'])[0] === id)?.reference
}

/**
 * Which saved cards to list; all of them if left out. `payable` and `customer` are those of the payment
 * that a card was saved with.
 */
export interface PaymentMethodsQuery extends PageQuery, FilterValues<typeof paymentMethodFilters> {}

/** By id, which begins with the time. */
export async function listPaymentMethods(
  db: Kysely<Tables>,
  query: PaymentMethodsQuery,
): Promise<Page<PaymentMethod>> {
  const conditions = conditionsOf(paymentMethodFilters, query, {
    payable: (payable) => withKey(payableKey(payable)),
    customer: (customer) => withKey(customerKey(customer)),
  })
  const rows = await db
    .selectFrom('billing.payment_methods as method')
    .selectAll()
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id'))
    .execute()
  return toPage(rows.map(toPaymentMethod), query, ({ createdAt, id }) => ({ at: createdAt, id }))
}

function withKey(key: Buffer): RawBuilder<boolean> {
  return sql`exists (select from billing.payment_keys as known
    where known.payment_id = method.payment_id and known.key = ${key})`
}

/** What was saved with a payment, oldest first. */
export async function savedWith(
  db: Kysely<Tables>,
  paymentId: string,
): Promise<readonly PaymentMethod[]> {
  const rows = await db
    .selectFrom('billing.payment_methods')
    .selectAll()
    .where('payment_id', '=', paymentId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toPaymentMethod)
}

/** Columns that `toPaymentMethod` reads. */
const columns = [
  'id',
  'gateway',
  'merchant_account',
  'live',
  'status',
  'provider_reference',
  'customer_reference',
  'payment_id',
  'kind',
  'brand',
  'last_four',
  'expiry_month',
  'expiry_year',
  'token',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof PaymentMethodsTable)[]

type PaymentMethodRow = Pick<Selectable<PaymentMethodsTable>, (typeof columns)[number]>
const methodColumns = sql.raw(columns.join(', '))

function toPaymentMethod(row: PaymentMethodRow): PaymentMethod {
  return {
    id: row.id,
    gateway: row.gateway,
    merchantAccount: row.merchant_account,
    live: row.live,
    status: row.status,
    providerReference: row.provider_reference,
    customerReference: row.customer_reference,
    paymentId: row.payment_id,
    details: {
      ...(row.kind !== null && { kind: row.kind }),
      ...(row.brand !== null && { brand: row.brand }),
      ...(row.last_four !== null && { lastFour: row.last_four }),
      ...(row.expiry_month !== null && { expiryMonth: row.expiry_month }),
      ...(row.expiry_year !== null && { expiryYear: row.expiry_year }),
    },
    hasToken: row.token !== null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

/** Whether a charge of this saved card began so recently and has no answer yet. */
export async function hasChargeUnderWay(
  db: Kysely<Tables>,
  paymentMethodId: string,
  within: Duration,
): Promise<boolean> {
  const { rows } = await sql`
    select from billing.payments
    where created_at > statement_timestamp() - ${interval(within)}
      and payment_method_id = ${paymentMethodId}::uuid
      and checkout = 'unknown' and operation_error is null
    limit 1`.execute(db)
  return rows.length > 0
}
