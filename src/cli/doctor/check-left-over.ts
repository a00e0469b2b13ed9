import { pendingMigrations } from '../../database/migrate.ts'
import { counted } from '../../kernel/counted.ts'
import { readUnknownGateways, type UnknownGateway } from '../../upkeep/diagnosis.ts'
import { ok, skipped, warning, type Finding } from './finding.ts'
import { knownNames, type Installation } from './installation.ts'

const check = 'left_over'

/** Whether anything waits for a gateway that was taken out of the configuration, or never was in it. */
export async function checkLeftOver(installation: Installation): Promise<readonly Finding[]> {
  const { database: state } = installation
  if (state.kind === 'closed') return [skipped(check, state.why)]
  const known = knownNames(installation)
  if (known === undefined) return [skipped(check, 'the settings are wrong')]
  const { database } = state
  if ((await pendingMigrations(database)).length > 0) {
    return [skipped(check, 'the schema is outdated')]
  }
  const unknown = await readUnknownGateways(database, known)
  return unknown.length > 0
    ? unknown.map(waiting)
    : [ok(check, 'nothing waits for a gateway that is not known here')]
}

function waiting({ gateway, calls, subscriptions }: UnknownGateway): Finding {
  const rows = [
    ...(calls === 0 ? [] : [counted(calls, 'call')]),
    ...(subscriptions === 0 ? [] : [counted(subscriptions, 'subscription')]),
  ]
  return warning(check, {
    found: `no gateway ${gateway} is known here, but there is something to do for it: ${rows.join(', ')}`,
    fix: 'Configure it here as well, until that is done. A service that knows it does it anyway.',
  })
}
