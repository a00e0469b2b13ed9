import type { EventPayloads } from './catalogue.ts'
import { disabledReasons, type Endpoint } from './endpoint.ts'
import type { StoredData } from './event-data.ts'

export const endpointEventType = 'EndpointDisabled'

/** The claim of an endpoint's end: once for each time that it is disabled. */
export function endpointDisabledKey({
  id,
  disabledAt,
}: Pick<Endpoint, 'id' | 'disabledAt'>): string {
  return `endpoint:disabled:${id}/${disabledAt?.toISOString()}`
}

/** What an event of an endpoint stores: all that it says. Of a URL its path may be a secret, too. */
export function endpointDisabledData(endpoint: Endpoint): StoredData {
  const { id, name, url, disabledReason: reason, disabledAt } = endpoint
  return {
    endpoint: { id, name, url: new URL(url).origin },
    reason,
    disabled_at: disabledAt?.toISOString(),
  }
}

/** The same, read back; whatever else is stored throws. */
export function readEndpointDisabled(stored: StoredData): EventPayloads['EndpointDisabled'] {
  const { endpoint, disabled_at: at } = stored
  const reason = disabledReasons.find((one) => one === stored['reason'])
  const disabledAt = new Date(typeof at === 'string' ? at : Number.NaN)
  if (!isNamed(endpoint) || reason === undefined || Number.isNaN(disabledAt.getTime())) {
    throw new Error('the stored data of EndpointDisabled is not as we write it')
  }
  const { id, name, url } = endpoint
  return { endpoint: { id, name, url }, reason, disabledAt }
}

type Named = EventPayloads['EndpointDisabled']['endpoint']

function isNamed(stored: unknown): stored is Named {
  if (typeof stored !== 'object' || stored === null) return false
  const { id, name, url } = stored as Partial<Record<keyof Named, unknown>>
  return [id, name, url].every((value) => typeof value === 'string')
}
