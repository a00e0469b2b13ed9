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
import type { OpenSpan } from '../kernel/spans.ts'
import { ignored, type Outcome } from '../payments/outcome.ts'
import type { LeasedCall } from '../queue/calls.ts'
import { within } from '../kernel/within.ts'

/** A leased call and what its callback says. */
export interface InterpretedCall {
  readonly call: LeasedCall
  readonly outcomes: readonly Outcome[]
  /** Of this attempt; what it leads to is below it. */
  readonly span?: OpenSpan | undefined
}

/** A leased call, and why it is not known what its callback says. */
export interface UninterpretedCall {
  readonly call: LeasedCall
  readonly error: unknown
}

interface InterpretationContext {
  readonly gateways: Registry
  readonly log: Log
  readonly cipher: Cipher | undefined
}

const limit: Duration = seconds(20)

/** What the callback says, in our words. May ask the provider; no transaction is open. */
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
  // Only waiting for a provider can take this long.
  const late = () =>
    new QuittanceError('provider_unreachable', `interpretation took over ${limit / 1000} s`)
  const outcomes = await within(limit, late, (signal) =>
    found.gateway.interpret(payload, { credentials, log, signal }),
  )
  return outcomes.length > 0 ? outcomes : [ignored('no_outcome')]
}

/**
 * The callback as it came. A newer version may read what an older one could not. Undefined if it is
 * encrypted and the key is gone.
 */
function payloadOf(
  call: LeasedCall,
  gateway: Gateway,
  context: InterpretationContext,
): Payload | undefined {
  // A constraint of the table: the bytes are there if they are encrypted or there is no text.
  const { kind, payload: text, body: bytes } = call
  if (call.body_encrypted) {
    const body = decrypt(bytes, call, context)
    if (body !== undefined) return gateway.parse({ headers: {}, body })
  } else if (kind === 'unreadable') {
    return gateway.parse({ headers: {}, body: bytes ?? new Uint8Array() })
  }
  // Stryker disable next-line StringLiteral: only what is unreadable has no text
  return kind === 'unreadable' ? undefined : readStored(kind, text ?? '')
}

/** Undefined if the key is gone: then only the masked payload is left. */
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
