import { pendingMigrations } from '../../database/migrate.ts'
import { counted } from '../../kernel/counted.ts'
import { intervalText } from '../../subscriptions/interval.ts'
import { boundary } from '../../subscriptions/boundary.ts'
import type { Interval } from '../../subscriptions/subscription.ts'
import { days } from '../../kernel/duration.ts'
import {
  dueTooLongSeconds,
  heldText,
  readSubscriptionWork,
} from '../../upkeep/read-subscription-work.ts'
import type { Settings } from '../../billing/settings.ts'
import { ok, skipped, warning, type Finding } from './finding.ts'
import type { Installation } from './installation.ts'

const check = 'subscriptions'

/** Whether subscriptions are worked on and charged, and whether their notices can ever be due. */
export async function checkSubscriptions({
  database: state,
  checked,
}: Installation): Promise<readonly Finding[]> {
  const notices = 'fault' in checked ? [] : checkNotices(checked.value)
  if (state.kind === 'closed') return [...notices, skipped(check, state.why)]
  const { database } = state
  if ((await pendingMigrations(database)).length > 0) {
    return [...notices, skipped(check, 'the schema is outdated')]
  }
  const { oldestDueSeconds, held } = await readSubscriptionWork(database)
  const findings = [
    ...notices,
    ...(oldestDueSeconds > dueTooLongSeconds
      ? [
          warning(check, {
            found: `the oldest that is due has waited for ${oldestDueSeconds} s`,
            fix: 'Keep a service or a worker running; by hand: quittance subscriptions run',
          }),
        ]
      : []),
    ...held.map((one) =>
      warning(check, {
        found: heldText(one),
        fix:
          one.gateway === null
            ? 'Once its reason is gone: quittance subscriptions release'
            : 'Mend what the reason says; to charge again at once: quittance subscriptions release',
      }),
    ),
  ]
  return findings.length > 0 ? findings : [ok(check, 'none is overdue, and charges are not held')]
}

/** A notice comes within what it announces the end of: one of a longer lead never does. */
export function checkNotices({
  plans,
  subscriptions,
}: Pick<Settings, 'plans' | 'subscriptions'>): readonly Finding[] {
  const { periodNoticeDays, trialNoticeDays } = subscriptions
  return Object.entries(plans).flatMap(([name, { every, trialDays }]) => {
    const ofPeriods = neverDue(periodNoticeDays, longestDays(every)).map((lead) =>
      warning(check, {
        found: `the notice ${counted(lead, 'day')} before the end of a period never comes for plan ${name}, which renews every ${intervalText(every)}`,
        fix: 'Give subscriptions.period_notice_days a shorter lead as well.',
      }),
    )
    const ofTrials = neverDue(trialNoticeDays, trialDays).map((lead) =>
      warning(check, {
        found: `the notice ${counted(lead, 'day')} before the end of a trial never comes for plan ${name}, whose trial takes ${counted(trialDays, 'day')}`,
        fix: 'Give subscriptions.trial_notice_days a shorter lead as well.',
      }),
    )
    return ofPeriods.concat(ofTrials)
  })
}

/** Only if no lead fits: the others are for plans with longer periods. */
function neverDue(leads: readonly number[], length: number): readonly number[] {
  if (length === 0 || leads.some((lead) => lead < length)) return []
  return leads.slice(0, 1)
}

/** From a July before a leap year on, months and years are as long as they get. */
const july = new Date('2027-07-01T00:00:00Z')

function longestDays(every: Interval): number {
  const end = boundary({ anchorAt: july, every, timeZone: 'UTC' }, 1)
  return (end.getTime() - july.getTime()) / days(1)
}
