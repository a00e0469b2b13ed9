import type { Payload } from '../gateways/body/payload.ts'
import { readStored } from '../gateways/body/read-stored.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { Registry } from '../gateways/registry.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { ignored, type Outcome } from '../payments/outcome.ts'
import type { LeasedCall } from '../queue/lease.ts'
import { within } from '../kernel/within.ts'

interface Interpretation {
  readonly gateways: Registry
  readonly log: Log
}

const limit: Duration = seconds(20)

/** What the callback says, in our words. May call the provider; no transaction is open. */
export async function interpretCall(
  call: LeasedCall,
  { gateways, log }: Interpretation,
): Promise<readonly Outcome[]> {
  const found = gateways.find(call.gateway)
  if (found === undefined) {
    throw new QuittanceError(
      'gateway_unknown',
      `call ${call.id} is of gateway ${call.gateway}, which this process has not registered`,
    )
  }
  const payload = payloadOf(call, found.gateway)
  if (payload.kind === 'unreadable') return [ignored('unreadable_payload', payload.reason)]
  const { credentials } = found
  const late = () => new Error(`interpretation took over ${limit / 1000} s`)
  const outcomes = await within(limit, late, (signal) =>
    found.gateway.interpret(payload, { credentials, log, signal }),
  )
  return outcomes.length > 0 ? outcomes : [ignored('no_outcome')]
}

/** What could not be read when it came in may be readable to a newer version. */
function payloadOf(call: LeasedCall, gateway: Gateway): Payload {
  return call.kind === 'unreadable' || call.payload === null
    ? gateway.parse({ headers: {}, body: call.body ?? new Uint8Array() })
    : readStored(call.kind, call.payload)
}
