import { bodyContext } from '../database/calls.ts'
import type { Payload } from '../gateways/body/payload.ts'
import { readStored } from '../gateways/body/read-stored.ts'
import type { Gateway } from '../gateways/gateway.ts'
import type { Registry } from '../gateways/registry.ts'
import { requireGateway } from '../gateways/require.ts'
import { seconds, type Duration } from '../kernel/duration.ts'
import type { Cipher } from '../kernel/encryption.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import { ignored, type Outcome } from '../payments/outcome.ts'
import type { LeasedCall } from '../queue/calls.ts'
import { within } from '../kernel/within.ts'

/** A leased call and what its callback says. */
export interface InterpretedCall {
  readonly call: LeasedCall
  readonly outcomes: readonly Outcome[]
}

interface InterpretationContext {
  readonly gateways: Registry
  readonly log: Log
  readonly cipher: Cipher | undefined
}

const limit: Duration = seconds(20)

/** What the callback says, in our words. May call the provider; no transaction is open. */
export async function interpretCall(
  call: LeasedCall,
  context: InterpretationContext,
): Promise<readonly Outcome[]> {
  const { gateways, log } = context
  const found = requireGateway(gateways, call.gateway)
  const payload = payloadOf(call, found.gateway, context)
  if (payload === undefined) return [ignored('unreadable_payload', 'encrypted')]
  if (payload.kind === 'unreadable') return [ignored('unreadable_payload', payload.reason)]
  const { credentials } = found
  // Only a provider that is asked can take so long.
  const late = () =>
    new QuittanceError('provider_unreachable', `interpretation took over ${limit / 1000} s`)
  const outcomes = await within(limit, late, (signal) =>
    found.gateway.interpret(payload, { credentials, log, signal }),
  )
  return outcomes.length > 0 ? outcomes : [ignored('no_outcome')]
}

/**
 * The callback as it came. What could not be read then may be readable to a newer version. Undefined
 * where only the key would tell.
 */
function payloadOf(
  call: LeasedCall,
  gateway: Gateway,
  context: InterpretationContext,
): Payload | undefined {
  // The bytes are there where they are encrypted and where there is no text: the table sees to it.
  const { kind, payload: text, body: bytes } = call
  if (call.body_encrypted) {
    const body = decrypt(bytes, call, context)
    if (body !== undefined) return gateway.parse({ headers: {}, body })
  } else if (kind === 'unreadable') {
    return gateway.parse({ headers: {}, body: bytes ?? new Uint8Array() })
  }
  return kind === 'unreadable' ? undefined : readStored(kind, text ?? '')
}

/** Undefined where the key is gone: what the payload shows is all that is left then. */
function decrypt(
  bytes: Uint8Array | null,
  { id }: LeasedCall,
  { cipher, log }: InterpretationContext,
): Uint8Array | undefined {
  const body = cipher?.decrypt(bytes ?? new Uint8Array(), bodyContext(id))
  if (body !== undefined) return body
  const text = 'no key of BILLING_ENCRYPTION_KEY decrypts the body; its masked payload must do'
  log.warn({ call: id }, text)
  return undefined
}
