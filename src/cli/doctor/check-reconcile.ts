import { sql } from 'kysely'
import type { Database } from '../../database/connect.ts'
import { interval } from '../../database/interval.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import type { RegisteredGateway, Registry } from '../../gateways/registry.ts'
import { counted } from '../../kernel/counted.ts'
import { minutes } from '../../kernel/duration.ts'
import { lackingCredential } from '../../gateways/require.ts'
import { readSchedules } from '../../upkeep/diagnosis.ts'
import { ok, skipped, warning, type Finding } from './finding.ts'
import type { Installation } from './installation.ts'

const check = 'reconcile'
/** The name of its schedule, too. */
export const reconcileSchedule = check

/** Whether the payments that wait for an answer are polled. */
export async function checkReconcile({
  database: state,
  checked,
}: Installation): Promise<readonly Finding[]> {
  if (state.kind === 'closed') return [skipped(check, state.why)]
  if ('fault' in checked) return [skipped(check, 'the settings are wrong')]
  const { database } = state
  if ((await pendingMigrations(database)).length > 0) {
    return [skipped(check, 'the schema is outdated')]
  }
  const waiting = await readWaiting(database)
  const findings = [
    ...(await checkLastRun(database)),
    ...checkWaiting(waiting, checked.value.gateways),
  ]
  return findings.length > 0 ? findings : [ok(check, 'no payment is overdue')]
}

const overdueAfter = minutes(15)

interface WaitingPayment {
  readonly gateway: string
  /** Payments and refunds that are to be polled. */
  readonly waiting: number
  readonly overdue: number
}

async function readWaiting(database: Database): Promise<readonly WaitingPayment[]> {
  const { rows } = await sql<WaitingPayment>`
    select gateway, count(*)::int as waiting,
      (count(*) filter (where
        next_poll_at < statement_timestamp() - ${interval(overdueAfter)})
      )::int as overdue
    from billing.payments
    where next_poll_at is not null and status <> 'paid'
      and (type = 'charge' or status = 'pending')
    group by gateway order by gateway`.execute(database.db)
  return rows
}

async function checkLastRun(database: Database): Promise<readonly Finding[]> {
  const schedules = await readSchedules(database)
  const failed = schedules.find(({ name, lastError }) => name === check && lastError !== null)
  if (failed === undefined) return []
  return [
    warning(check, {
      found: `the last run failed: ${failed.lastError ?? ''}`,
      fix: 'It is tried again every minute; by hand: quittance reconcile',
    }),
  ]
}

function checkWaiting(all: readonly WaitingPayment[], registry: Registry): readonly Finding[] {
  return all.flatMap(({ gateway, waiting, overdue }) => {
    const fix = whatIsMissing(gateway, registry.find(gateway))
    if (fix !== undefined) {
      const found = `${gateway} cannot be asked about ${counted(waiting, 'payment')}`
      return [warning(check, { found, fix })]
    }
    if (overdue === 0) return []
    return [
      warning(check, {
        found: `${gateway} should have been asked about ${counted(overdue, 'payment')} by now`,
        fix: 'Keep a service or a worker running: it asks; by hand: quittance reconcile',
      }),
    ]
  })
}

/** What has to be set before the gateway's provider can be asked. */
function whatIsMissing(name: string, found: RegisteredGateway | undefined): string | undefined {
  if (found === undefined) return `Register ${name} here, as the service does.`
  if (!found.credentials.configured) return 'Set what `quittance gateways` names for it.'
  const lacking = lackingCredential(found)
  return lacking === undefined ? undefined : `Set ${lacking}.`
}
