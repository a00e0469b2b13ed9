import { sql, type Kysely, type Selectable } from 'kysely'
import { interval } from '../database/interval.ts'
import { databaseNow } from '../database/now.ts'
import { toPayment } from '../database/payments.ts'
import type { PaymentsTable, Tables, WebhookCallsTable } from '../database/tables.ts'
import { dedupKey } from '../events/catalogue.ts'
import { days, minutes } from '../kernel/duration.ts'
import { idAt } from '../kernel/ids.ts'
import type { MoneyContext } from '../money/context.ts'
import type { Payment } from '../payments/payment.ts'
import type { Claim } from '../outcomes/applied.ts'
import { deferEvents } from '../processing/deferred-events.ts'
import { findLostDisputes } from './find-lost-disputes.ts'

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
      and not exists (select from billing.deliveries as delivery
        where delivery.dedup_key = ${keyOfPaid} and delivery.state <> 'processed')
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
