import { sql, type Kysely } from 'kysely'
import type { SubscriptionPeriod } from '../subscriptions/period.ts'
import { named } from './named-statements.ts'
import type { Tables } from './tables.ts'

/** What is known of a period that was written. */
export interface WrittenPeriod {
  /** That stays so under the lock of its subscription. */
  readonly hasInvoice: boolean
}

/** Makes or changes a period; under the lock of its subscription. */
export async function upsertPeriod(
  db: Kysely<Tables>,
  period: SubscriptionPeriod,
): Promise<WrittenPeriod> {
  const changing = {
    state: period.state,
    starts_at: period.startsAt,
    ends_at: period.endsAt,
    time_assumed: period.isTimeAssumed,
    amount: period.amount,
    currency: period.currency,
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
  // What was granted, or given up, stays so; and by what it was paid. Only a provider is paid for
  // what was given up here.
  const upsert = db
    .insertInto('billing.subscription_periods')
    .values({
      ...changing,
      id: period.id,
      subscription_id: period.subscriptionId,
      number: period.number,
      kind: period.kind,
      nominal_starts_at: period.nominalStartsAt,
      status_before: period.statusBefore,
      skipped_periods: period.skippedPeriods,
    })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet(changing)
        .where(
          sql<boolean>`subscription_periods.state = 'open'
            or (subscription_periods.state = 'void' and excluded.state = 'paid') or (subscription_periods.state = excluded.state
            and subscription_periods.paid_payment_id is not distinct from excluded.paid_payment_id)`,
        ),
    )
    .returning(
      sql<boolean>`exists (select from billing.invoices where period_id = subscription_periods.id)`.as(
        'hasInvoice',
      ),
    )
  const { rows } = await sql<WrittenPeriod>`${named('upsert-period')}${upsert}`.execute(db)
  const [written] = rows
  if (written === undefined) throw outOfDate(`period ${period.id}`)
  return written
}

export function outOfDate(what: string): Error {
  return new Error(`a decision about ${what} is out of date, and was not written`)
}
