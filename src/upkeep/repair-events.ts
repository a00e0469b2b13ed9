import { sql, type Kysely, type Selectable } from 'kysely'
import { toDispute } from '../database/disputes.ts'
import { interval } from '../database/interval.ts'
import { databaseNow } from '../database/now.ts'
import { findPayments, toPayment } from '../database/payments.ts'
import type { DisputesTable, PaymentsTable, Tables, WebhookCallsTable } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { days, minutes, type Duration } from '../kernel/duration.ts'
import { idAt, type NewId } from '../kernel/ids.ts'
import type { MoneyContext } from '../money/context.ts'
import type { Dispute } from '../payments/dispute.ts'
import type { Payment } from '../payments/payment.ts'
import type { Claim } from '../outcomes/applied.ts'
import { deferEvents } from '../processing/deferred-events.ts'

/** What moved this recently may be about to be dispatched. */
const youngest = minutes(10)
/** How far back a run looks before the last one, at least. */
const overlap = minutes(30)
const oldest = days(3)
const pageRows = 100

/** The key of each paid row: see `catalogue`. */
const keyOfPaid = sql`
  case payment.type when 'refund' then 'refund' else 'payment' end || ':paid:' || payment.id`

/** A payment that was paid, and what moved it there. */
type PaidWithoutEvent = Selectable<PaymentsTable> & {
  readonly transition_id: string
  readonly call_id: string | null
  readonly is_recent: boolean
}

/**
 * Finds paid payments, refunds and disputes whose event was never dispatched and that nothing will
 * dispatch: the call that moved them is gone, and no event is deferred. It defers each such event; a
 * worker does the rest. It reads the payments that moved since the last run began, and in the first
 * run the payments that moved within three days. Returns how many events it has deferred.
 */
export async function repairEvents(context: MoneyContext, lastRunAt?: Date): Promise<number> {
  const payments = await repairPayments(context, lastRunAt)
  return payments + (await repairDisputes(context))
}

async function repairDisputes(context: MoneyContext): Promise<number> {
  const { database, log, newId } = context.processing
  const claims = await findLostDisputes(database.db, { youngest, oldest }, newId)
  for (const { dedupKey } of claims) {
    log.warn({ event: dedupKey }, 'a dispute has no event; it is dispatched now')
  }
  return defer(claims, context)
}

async function repairPayments(context: MoneyContext, lastRunAt?: Date): Promise<number> {
  const { processing } = context
  const { db } = processing.database
  const span = await spanOf(db, lastRunAt)
  let repaired = 0
  for (let { after } = span; ;) {
    const rows = await findWithoutEvent(db, { ...span, after })
    const lost = await withoutThoseLeft(db, rows)
    const claims = lost.map((row) => claimOf(toPayment(row), processing.newId()))
    for (const { dedupKey } of claims) {
      processing.log.error({ event: dedupKey }, 'a paid payment has no event; it is dispatched now')
    }
    repaired += await defer(claims, context)
    const last = rows.at(-1)
    if (last === undefined || rows.length < pageRows) return repaired
    after = last.transition_id
  }
}

async function defer(
  claims: readonly Claim[],
  { processing, queue }: MoneyContext,
): Promise<number> {
  const now = { attempts: 0, after: 0, exception: null }
  await deferEvents(processing.database.db, claims, { cause: 'operator', queue, ...now })
  if (claims.length > 0) processing.wake()
  return claims.length
}

/** Between these ids are the transitions that a run looks at. */
interface Span {
  readonly after: string
  readonly before: string
}

/** Ids are made by the clocks of the processes: `overlap` is also how far these may be off. */
async function spanOf(db: Kysely<Tables>, lastRunAt: Date | undefined): Promise<Span> {
  const now = (await databaseNow(db)).getTime()
  const lastEnd = lastRunAt === undefined ? 0 : lastRunAt.getTime() - youngest
  return {
    after: idAt(new Date(Math.max(now - oldest, lastEnd - overlap))),
    before: idAt(new Date(now - youngest)),
  }
}

async function findWithoutEvent(
  db: Kysely<Tables>,
  { after, before }: Span,
): Promise<readonly PaidWithoutEvent[]> {
  const { rows } = await sql<PaidWithoutEvent>`
    select payment.*, transition.id as transition_id, transition.webhook_call_id as call_id,
      transition.at > statement_timestamp() - ${interval(overlap)} as is_recent
    from billing.payment_transitions as transition
    join billing.payments as payment on payment.id = transition.payment_id
    where transition.id > ${after}::uuid and transition.id < ${before}::uuid
      and transition.to_status = 'paid' and payment.status = 'paid'
      and transition.at < statement_timestamp() - ${interval(youngest)}
      and not exists (select from billing.events as event where event.dedup_key = ${keyOfPaid})
      and not exists (select from billing.deferred_events as deferred
        where deferred.dedup_key = ${keyOfPaid} and deferred.state <> 'processed')
    order by transition.id limit ${pageRows}`.execute(db)
  return rows
}

/**
 * The call that moved the payment dispatches its event: it is retried, or replayed. A call that has
 * not ended is waited for as long as another run looks back this far; then the event goes out
 * without it, and the call finds it claimed. So does the event, if the call has ended just now.
 */
async function withoutThoseLeft(
  db: Kysely<Tables>,
  rows: readonly PaidWithoutEvent[],
): Promise<readonly PaidWithoutEvent[]> {
  const calls = rows.flatMap(({ call_id: id }) => id ?? [])
  if (calls.length === 0) return rows
  const { rows: found } = await sql<Pick<Selectable<WebhookCallsTable>, 'id' | 'state'>>`
    select id, state from billing.webhook_calls where id = any(${calls}::uuid[])`.execute(db)
  const states = new Map(found.map(({ id, state }) => [id, state]))
  return rows.filter(({ call_id: id, is_recent: isRecent }) => {
    const state = id === null ? undefined : states.get(id)
    return state !== 'failed' && !(isRecent && (state === 'pending' || state === 'processing'))
  })
}

function claimOf(payment: Payment, eventId: string): Claim {
  const { id } = payment
  const about = { eventId, subject: { payment } }
  return payment.type === 'refund'
    ? { ...about, type: 'PaymentRefunded', dedupKey: dedupKey('PaymentRefunded', { refund: id }) }
    : {
        ...about,
        type: 'PaymentSucceeded',
        dedupKey: dedupKey('PaymentSucceeded', { payment: id }),
      }
}

const keyOfStatus = sql`'dispute:' || dispute.status || ':' || dispute.id`

/**
 * The claims of disputes whose status was never dispatched. A listener threw: the dispute is committed
 * and its claim is not. The retry of the call asks the provider again, and the answer no longer has the
 * dispute, so nothing claims it. Each run looks at all disputes that changed between these ages: they
 * are few.
 */
async function findLostDisputes(
  db: Kysely<Tables>,
  { youngest, oldest }: { readonly youngest: Duration; readonly oldest: Duration },
  newId: NewId,
): Promise<readonly Claim[]> {
  const { rows } = await sql<Selectable<DisputesTable>>`
    select dispute.* from billing.disputes as dispute
    where dispute.updated_at > statement_timestamp() - ${interval(oldest)}
      and dispute.updated_at < statement_timestamp() - ${interval(youngest)}
      and not exists (select from billing.events as event where event.dedup_key = ${keyOfStatus})
      and not exists (select from billing.deferred_events as deferred
        where deferred.dedup_key = ${keyOfStatus} and deferred.state <> 'processed')
    order by dispute.updated_at, dispute.id`.execute(db)
  const charges = await findPayments(db, [...new Set(rows.map((row) => row.payment_id))])
  const left = await openCallsOf(db, [...charges.keys()])
  return rows.map(toDispute).flatMap((dispute) => {
    const payment = charges.get(dispute.paymentId)
    if (payment === undefined || left.some((call) => mayHaveReported(call, dispute))) return []
    const type = 'PaymentDisputed'
    const key = dedupKey(type, { dispute: dispute.id, status: dispute.status })
    return [{ eventId: newId(), dedupKey: key, type, subject: { payment, dispute } }]
  })
}

type OpenCall = Pick<Selectable<WebhookCallsTable>, 'payment_id' | 'processed_at'>

/** Calls of these charges that have not ended well. */
async function openCallsOf(
  db: Kysely<Tables>,
  charges: readonly string[],
): Promise<readonly OpenCall[]> {
  if (charges.length === 0) return []
  const { rows } = await sql<OpenCall>`
    select payment_id, processed_at from billing.webhook_calls
    where payment_id = any(${[...charges]}::uuid[])
      and state in ('pending', 'processing', 'failed')`.execute(db)
  return rows
}

/**
 * A dispute does not say which call reported it. One that has not ended well dispatches it itself,
 * unless it had failed before.
 */
function mayHaveReported(call: OpenCall, { paymentId, updatedAt }: Dispute): boolean {
  const { payment_id: id, processed_at: end } = call
  return id === paymentId && (end === null || end >= updatedAt)
}
