import { QuittanceError } from '../kernel/errors.ts'

/** The signer's entry of this name. Error: `usage`, which lists the names. */
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
