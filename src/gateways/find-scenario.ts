import { QuittanceError } from '../kernel/errors.ts'

/** What a signer has under this name. Error: `usage`, with the names that it has. */
export function findScenario<Scenario>(
  gateway: string,
  scenarios: ReadonlyMap<string, Scenario>,
  name: string,
): Scenario {
  const scenario = scenarios.get(name)
  if (scenario !== undefined) return scenario
  const known = [...scenarios.keys()].join(', ')
  throw new QuittanceError('usage', `gateway ${gateway} has no scenario ${name}; it has ${known}`)
}
