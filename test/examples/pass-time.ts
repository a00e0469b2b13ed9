import { rowsOf, type RunningExample } from './example.ts'

const ofSubscriptions = [
  'anchor_at',
  'trial_ends_at',
  'paid_until',
  'cancel_at',
  'pause_at',
  'resume_at',
  'suspended_at',
  'next_action_at',
  'created_at',
]
const ofPeriods = ['starts_at', 'ends_at', 'first_failed_at', 'next_attempt_at', 'paid_at']
const ofPayments = ['created_at', 'handed_at', 'expires_at']

/**
 * Moves all times of subscriptions back, as if so much time had passed in one moment: a process that
 * runs has no other clock. Names of periods and attempts stay: they are from their first times.
 */
export async function passTime(example: RunningExample, length: string): Promise<void> {
  const moved = (columns: readonly string[]) =>
    columns.map((column) => `${column} = ${column} - interval '${length}'`).join(', ')
  await rowsOf(
    example,
    `with periods as (update billing.subscription_periods set ${moved(ofPeriods)}),
       payments as (
         update billing.payments set ${moved(ofPayments)} where period_id is not null
       )
     update billing.subscriptions set ${moved(ofSubscriptions)}`,
  )
}
