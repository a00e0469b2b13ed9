import { listEndpoints } from '../../database/endpoints.ts'
import { readLastPosition } from '../../database/feed.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import type { Endpoint } from '../../events/endpoint.ts'
import { counted } from '../../kernel/counted.ts'
import { readUnnumbered, readUnsent, type Unsent } from '../../upkeep/diagnosis.ts'
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
  const unsent = new Map((await readUnsent(database)).map((one) => [one.endpointId, one]))
  const faults = endpoints.flatMap((endpoint) => [
    ...endpointFindings(endpoint, last),
    ...unsentFindings(endpoint, unsent.get(endpoint.id)),
  ])
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

/** Events that an endpoint was not sent although it may be well by now. */
export function unsentFindings(
  { name, enabled, failures }: Pick<Endpoint, 'name' | 'enabled' | 'failures'>,
  unsent: Unsent | undefined,
): readonly Finding[] {
  const { failed = 0, late = 0 } = unsent ?? {}
  const givenUp = warning('endpoints', {
    found: `${counted(failed, 'event')} for ${name} given up in the last 7 days, after ten attempts`,
    fix: `See why: quittance endpoints attempts ${name}; then: quittance endpoints resend ${name} EVENT`,
  })
  const waiting = warning('endpoints', {
    found: `${counted(late, 'event')} for ${name} due again for over 10 minutes`,
    fix: 'Keep a service or a worker running: quittance serve, or quittance work',
  })
  // While it fails, they wait with all others, and that is said already.
  return [
    ...(failed > 0 ? [givenUp] : []),
    ...(late > 0 && enabled && failures === 0 ? [waiting] : []),
  ]
}
