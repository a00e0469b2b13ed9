import { dedupKey } from './catalogue.ts'
import type { Endpoint } from './endpoint.ts'
import { writeEventData, type StoredData } from './event-data.ts'

/**
 * That an endpoint is disabled: once for each time. The event stores all that it says. Of a URL its
 * path may be a secret, too.
 */
export function endpointDisabled({ id, name, url, disabledReason, disabledAt }: Endpoint): {
  readonly dedupKey: string
  readonly data: StoredData
} {
  if (disabledReason === null || disabledAt === null) throw new Error(`${name} is not disabled`)
  const endpoint = { id, name, url: new URL(url).origin }
  const names = { endpoint: id, 'time it was disabled': disabledAt.toISOString() }
  return {
    dedupKey: dedupKey('EndpointDisabled', names),
    data: writeEventData({
      type: 'EndpointDisabled',
      data: { endpoint, reason: disabledReason, disabledAt },
    }),
  }
}
