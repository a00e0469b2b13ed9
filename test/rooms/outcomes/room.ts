import assert from 'node:assert/strict'
import { sql, type Insertable, type Kysely } from 'kysely'
import { findPayment, insertPayment, listTransitions } from '../../../src/database/payments.ts'
import type { Tables, WebhookCallsTable } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { refundRow } from '../../../src/outcomes/further-row.ts'
import { applyOutcomes } from '../../../src/outcomes/apply-outcomes.ts'
import type { Report, Applied, ApplyContext } from '../../../src/outcomes/applied.ts'
import type { Outcome, PaymentOutcome } from '../../../src/payments/outcome.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { subscriptionContext } from '../../support/subscription-context.ts'
import { pendingPayment } from '../../support/pending-payment.ts'

/** Rows are known by a letter, in the order of the alphabet. */
export type Name = 'a' | 'b' | 'c' | 'd' | 'e' | 'f'

export function idOf(name: Name): string {
  const of = (length: number) => name.repeat(length)
  return `${of(8)}-${of(4)}-7${of(3)}-8${of(3)}-${of(12)}`
}

/** The letter of a row; `new` for an id that the room has drawn. */
export function nameOf(id: string): string {
  return id.startsWith('0') ? 'new' : id.slice(0, 1)
}

/** A charge of 4999 USD at the gateway `x`, pending if nothing else is said. */
export async function charge(
  db: Kysely<Tables>,
  name: Name,
  fields: Partial<Payment> = {},
): Promise<Payment> {
  const payment = pendingPayment({ gateway: 'x', id: idOf(name), ...fields })
  const written = await insertPayment(db, { ...payment, isHanded: false, firstPollAfter: null })
  if (written === undefined) throw new Error(`${name} is there already`)
  return written
}

/** A refund of this charge, of 1000 and pending if nothing else is said. */
export async function refund(
  db: Kysely<Tables>,
  name: Name,
  {
    of,
    isHanded = false,
    ...fields
  }: Partial<Payment> & { readonly of: Payment; readonly isHanded?: boolean },
): Promise<Payment> {
  const own = { id: idOf(name), amount: 1_000n, providerReference: null, isHanded, ...fields }
  const written = await insertPayment(db, refundRow(of, own))
  if (written === undefined) throw new Error(`${name} is there already`)
  return written
}

/** A stored call of the gateway `x` that has ended: in this state, with these columns. */
export async function storedCall(
  db: Kysely<Tables>,
  name: Name,
  fields: Partial<Insertable<WebhookCallsTable>> & { readonly state: EndedState },
): Promise<void> {
  const unread = { url: '/', headers: '{}', kind: 'json', payload: '{}', body: null } as const
  await db
    .insertInto('billing.webhook_calls')
    .values({
      id: idOf(name),
      gateway: 'x',
      queue: 'default',
      ...unread,
      processed_at: sql<Date>`clock_timestamp()`,
      ...fields,
    })
    .execute()
}

type EndedState = 'processed' | 'ignored' | 'failed'

/** What a report says of the charge `a`; that it is paid in full, if nothing else is said. */
export function stated(
  status: PaymentOutcome['status'],
  fields: Partial<PaymentOutcome> = {},
): PaymentOutcome {
  const money = status === 'paid' ? { amount: 4999n, currency: 'USD' } : {}
  return { type: 'payment', payment: { id: idOf('a') }, status, ...money, ...fields }
}

export interface Sources extends Partial<ApplyContext> {
  readonly gateway?: string
  readonly callId?: string | null
  readonly cause?: Report['cause']
}

/** What each outcome of one callback came to. */
export async function apply(
  db: Kysely<Tables>,
  outcomes: readonly Outcome[],
  { gateway = 'x', callId = idOf('f'), cause = 'call', ...applying }: Sources = {},
): Promise<readonly Brief[]> {
  const [applied] = await applyAll(db, [{ gateway, cause, callId, outcomes }], applying)
  return applied ?? []
}

/** What each outcome of several callbacks came to that are applied together. */
export async function applyAll(
  db: Kysely<Tables>,
  reports: readonly Report[],
  applying: Partial<ApplyContext> = {},
): Promise<readonly (readonly Brief[])[]> {
  const applied = await applyOutcomes(db, reports, {
    newId: newUuid,
    cipher: undefined,
    gateways: { find: () => undefined },
    ...subscriptionContext,
    ...applying,
  })
  return applied.map((one) => one.map(brief))
}

/** All that a result says, rows by their names; what is usual is left out. */
export type Brief = Readonly<Record<string, unknown>>

export function brief(applied: Applied): Brief {
  const { payment, review } = applied
  const shared = {
    ...(payment !== undefined && { of: standing(payment) }),
    ...(review && { review }),
  }
  if (applied.kind === 'recorded') return { ...applied.result, ...shared }
  if (applied.kind === 'ignored') {
    const { awaiting, result } = applied
    const { result: _, ...why } = result
    return { ...why, ...shared, ...(awaiting.length > 0 && { awaiting }) }
  }
  assert.equal(applied.kind, 'claim')
  const { claim, type } = applied
  const { subject } = claim
  if ('subscription' in subject) assert.fail('no outcome is about a subscription')
  if ('endpoint' in subject) assert.fail('no outcome is about an endpoint')
  if ('invoice' in subject) assert.fail('no outcome claims an event of a document')
  return {
    type,
    claims: claim.type,
    key: claim.dedupKey.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, nameOf),
    about: 'payment' in subject ? standing(subject.payment) : subject.paymentMethod.status,
    ...('dispute' in subject && { dispute: subject.dispute?.status }),
    ...shared,
    ...('detail' in applied && { detail: applied.detail }),
    ...(claim.superseded === true && { superseded: true }),
  }
}

/** Name, status and the provider's ids, e.g. `a paid cs_1 pi_1`. */
export function standing(payment: Payment): string {
  const { id, status, checkoutReference, providerReference } = payment
  const known = [checkoutReference, providerReference].filter((reference) => reference !== null)
  return [nameOf(id), status, ...known].join(' ')
}

/** The payment as its row says; it is there. */
export async function rowOf(db: Kysely<Tables>, name: Name): Promise<Payment> {
  const payment = await findPayment(db, idOf(name))
  if (payment === undefined) throw new Error(`${name} is not there`)
  return payment
}

/** The changes of a payment, e.g. `pending > paid by call f`; oldest first. */
export async function historyOf(db: Kysely<Tables>, id: string): Promise<readonly string[]> {
  const transitions = await listTransitions(db, id)
  return transitions.map(
    ({ from, to, cause, webhookCallId }) =>
      `${from} > ${to} by ${cause}${webhookCallId === null ? '' : ` ${nameOf(webhookCallId)}`}`,
  )
}

/** The database, and how many statements have gone to it by this way. */
export function counting(db: Kysely<Tables>): {
  readonly db: Kysely<Tables>
  readonly statements: () => number
} {
  let sent = 0
  const counted = db.withPlugin({
    transformQuery: ({ node }) => node,
    // Once for each statement; a query may be part of another.
    transformResult: async ({ result }) => {
      sent += 1
      return result
    },
  })
  return { db: counted, statements: () => sent }
}
