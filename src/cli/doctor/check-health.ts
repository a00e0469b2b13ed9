import { sql } from 'kysely'
import type { Settings } from '../../billing/settings.ts'
import type { Database } from '../../database/connect.ts'
import { isPolled } from '../../database/due-payments.ts'
import type { RegisteredGateway } from '../../gateways/registry.ts'
import { lackingCredential } from '../../gateways/require.ts'
import { judge, lookInto } from '../../health/fact.ts'
import { allFacts } from '../../health/facts.ts'
import { counted } from '../../kernel/counted.ts'
import { days } from '../../kernel/duration.ts'
import { boundary } from '../../subscriptions/boundary.ts'
import { intervalText } from '../../subscriptions/interval.ts'
import type { Interval } from '../../subscriptions/subscription.ts'
import { error, ok, skipped, warning, type Fault, type Finding } from './finding.ts'
import { knownNames, type Installation } from './installation.ts'
import { whyUnread } from './open-for-diagnosis.ts'

/** `database`: undefined if it cannot be read. */
type Find = (
  settings: Settings,
  database: Database | undefined,
) => readonly Fault[] | Promise<readonly Fault[]>

/** What checks find besides the facts, by the settings of this installation. */
const besides: Readonly<Record<string, Find>> = {
  left_over: findLeftOver,
  reconcile: findUnaskable,
  subscriptions: findNeverDue,
}

const names = [...new Set(allFacts.flatMap(({ check }) => check ?? []))]

/** The facts about the work, each a part of one check. */
export const healthChecks = Object.fromEntries(
  names.map((check) => [check, (installation: Installation) => checkHealth(check, installation)]),
)

async function checkHealth(check: string, installation: Installation): Promise<readonly Finding[]> {
  const { database: state, checked } = installation
  const why = await whyUnread(state)
  const database = state.kind === 'open' && why === undefined ? state.database : undefined
  const others = 'fault' in checked ? [] : await besides[check]?.(checked.value, database)
  const faults = (others ?? []).map((fault) => warning(check, fault))
  if (database === undefined) return [...faults, skipped(check, why ?? '')]
  const own = allFacts.filter((row) => row.check === check)
  const judged = await lookInto(database, knownNames(installation), async (look) => {
    const all: Awaited<ReturnType<typeof judge>>[] = []
    for (const row of own) all.push(await judge(row, look))
    return all
  })
  const wrong = judged.flatMap((one) => one.wrong)
  const findings = wrong.map(({ severity, text, fix }) =>
    (severity === 'error' ? error : warning)(check, { found: text, fix }),
  )
  if (faults.length + findings.length > 0) return [...faults, ...findings]
  return [ok(check, judged.map(({ well }) => well).join('; '))]
}

interface OfGateway {
  readonly gateway: string
  readonly count: number
}

interface LeftOver {
  readonly gateway: string
  readonly calls: number
  readonly subscriptions: number
}

/** Calls and subscriptions that wait for a process that knows their gateway; they need not be due. */
async function findLeftOver({ gateways }: Settings, database: Database | undefined) {
  if (database === undefined) return []
  const known = gateways.list().map(({ gateway }) => gateway.name)
  const { rows } = await sql<LeftOver>`
    select gateway, sum(call)::int as calls, sum(subscription)::int as subscriptions
    from (
      select gateway, 1 as call, 0 as subscription from billing.webhook_calls
      where state in ('pending', 'processing')
      union all select gateway, 0, 1 from billing.subscriptions where next_action_at is not null
    ) as waiting
    where gateway <> all(${known}::text[]) group by gateway order by gateway`.execute(database.db)
  return rows.map(({ gateway, calls, subscriptions }) => {
    const what = [
      ...(calls === 0 ? [] : [counted(calls, 'call')]),
      ...(subscriptions === 0 ? [] : [counted(subscriptions, 'subscription')]),
    ]
    return {
      found: `no gateway ${gateway} is known here, but there is something to do for it: ${what.join(', ')}`,
      fix: 'Configure it here as well, until that is done. A service that knows it does it anyway.',
    }
  })
}

/** Gateways that cannot be asked about the payments that wait for an answer. */
async function findUnaskable({ gateways }: Settings, database: Database | undefined) {
  if (database === undefined) return []
  const { rows } = await sql<OfGateway>`
    select gateway, count(*)::int as count from billing.payments
    where next_poll_at is not null and ${isPolled}
    group by gateway order by gateway`.execute(database.db)
  return rows.flatMap(({ gateway, count }) => {
    const fix = whatIsMissing(gateway, gateways.find(gateway))
    const found = `${gateway} cannot be asked about ${counted(count, 'payment')}`
    return fix === undefined ? [] : [{ found, fix }]
  })
}

/** What has to be set before the gateway's provider can be asked. */
function whatIsMissing(name: string, found: RegisteredGateway | undefined): string | undefined {
  if (found === undefined) return `Register ${name} here, as the service does.`
  if (!found.credentials.configured) return 'Set what `quittance gateways` names for it.'
  const lacking = lackingCredential(found)
  return lacking === undefined ? undefined : `Set ${lacking}.`
}

/** A notice comes within what it announces the end of: one of a longer lead never does. */
export function findNeverDue({
  plans,
  subscriptions,
}: Pick<Settings, 'plans' | 'subscriptions'>): readonly Fault[] {
  const { periodNoticeDays, trialNoticeDays } = subscriptions
  return Object.entries(plans).flatMap(([name, { every, trialDays }]) => {
    const ofPeriods = neverDue(periodNoticeDays, longestDays(every)).map((lead) => ({
      found: `the notice ${counted(lead, 'day')} before the end of a period never comes for plan ${name}, which renews every ${intervalText(every)}`,
      fix: 'Give subscriptions.period_notice_days a shorter lead as well.',
    }))
    const ofTrials = neverDue(trialNoticeDays, trialDays).map((lead) => ({
      found: `the notice ${counted(lead, 'day')} before the end of a trial never comes for plan ${name}, whose trial takes ${counted(trialDays, 'day')}`,
      fix: 'Give subscriptions.trial_notice_days a shorter lead as well.',
    }))
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
