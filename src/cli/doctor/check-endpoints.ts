import { listEndpoints } from '../../database/endpoints.ts'
import { readLastPosition } from '../../database/feed.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import type { Endpoint } from '../../events/endpoint.ts'
import { counted } from '../../kernel/counted.ts'
import { readUnnumbered } from '../../upkeep/diagnosis.ts'
import { ok, skipped, warning, type Finding } from './finding.ts'
import type { Installation } from './installation.ts'

/** As many events behind an endpoint soon deals with, if it takes them. */
const farBehind = 1_000

/** Whether events get their places, and endpoints what they are to be sent. */
export async function checkEndpoints(installation: Installation): Promise<readonly Finding[]> {
  const { database: state } = installation
  const skip = (why: string) => ['feed', 'endpoints'].map((check) => skipped(check, why))
  if (state.kind === 'closed') return skip(state.why)
  const { database } = state
  if ((await pendingMigrations(database)).length > 0) return skip('the schema is outdated')
  const last = Number(await readLastPosition(database.db))
  const endpoints = await listEndpoints(database.db)
  const faults = endpoints.flatMap((endpoint) => endpointFindings(endpoint, last))
  return [
    feedFinding(await readUnnumbered(database)),
    ...(faults.length > 0 ? faults : [ok('endpoints', wellFound(endpoints.length))]),
  ]
}

function wellFound(count: number): string {
  return count === 0 ? 'there is none' : `${counted(count, 'endpoint')}, none behind`
}

/** `late`: events that have waited over a minute for their place. */
export function feedFinding(late: number): Finding {
  if (late === 0) return ok('feed', 'every event has its place')
  return warning('feed', {
    found: `${counted(late, 'event')} without a place in the feed for over a minute`,
    fix: 'Keep a service or a worker running: quittance serve, or quittance work',
  })
}

/** `last`: the position of the newest event. */
export function endpointFindings(endpoint: Endpoint, last: number): readonly Finding[] {
  const { name, enabled, disabledReason, failures, position } = endpoint
  const behind = counted(last - position, 'event')
  if (!enabled) {
    return [
      warning('endpoints', {
        found: `${name} is disabled (${disabledReason ?? 'operator'}), ${behind} behind`,
        fix: `Once it is well: quittance endpoints enable ${name}`,
      }),
    ]
  }
  if (failures > 0) {
    return [
      warning('endpoints', {
        found: `${name} has failed ${counted(failures, 'time')} in a row, ${behind} behind`,
        fix: `See what it answers: quittance endpoints attempts ${name}`,
      }),
    ]
  }
  if (last - position <= farBehind) return []
  return [
    warning('endpoints', {
      found: `${name} is ${behind} behind`,
      fix: `See how long it takes: quittance endpoints attempts ${name}`,
    }),
  ]
}
