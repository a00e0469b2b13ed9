import { driverOf } from '../gateways/accounts.ts'
import { builtinSummaries } from '../gateways/builtin-summaries.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { assertNever } from '../kernel/errors.ts'
import type { EndpointFault } from '../upkeep/read-registration.ts'

const ending = '-register-webhook'

/** The command that registers the callback URL of a gateway, under one of its names. */
export function registerCommand(name: string): string {
  return name + ending
}

/** What to type to register the callback URL of this very gateway. */
export function registerLine(gateway: Gateway): string {
  const driver = driverOf(gateway)
  const command = registerCommand(driver)
  return driver === gateway.name ? command : `${command} --gateway ${gateway.name}`
}

/** How to register it by hand. */
export function registerFix(gateway: Gateway): string {
  return builtinSummaries.some(({ name }) => name === driverOf(gateway))
    ? `Run: quittance ${registerLine(gateway)}`
    : `Register it by billing.registration, or in the dashboard of ${gateway.title}.`
}

/** What is wrong with an endpoint, as a phrase. */
export function faultText(fault: EndpointFault): string {
  switch (fault.kind) {
    case 'disabled':
      return 'switched off'
    case 'version':
      return `version ${fault.found} instead of ${fault.wanted}`
    case 'events':
      return eventsText(fault.missing, fault.extra)
    default:
      return assertNever(fault)
  }
}

function eventsText(missing: readonly string[], extra: readonly string[]): string {
  return [
    ...(missing.length === 0 ? [] : [`lacks ${listed(missing)}`]),
    ...(extra.length === 0 ? [] : [`sends ${listed(extra)}, which nobody handles`]),
  ].join('; ')
}

const mostNames = 3

function listed(names: readonly string[]): string {
  const [shown, rest] = [names.slice(0, mostNames), names.length - mostNames]
  return rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ')
}
