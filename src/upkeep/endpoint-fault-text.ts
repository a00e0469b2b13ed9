import { assertNever } from '../kernel/errors.ts'
import type { EndpointFault } from './read-registration.ts'

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
