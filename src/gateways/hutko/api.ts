import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Payment } from '../../payments/payment.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { isJsonObject, path as within, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'
import { variableFor, type Credentials } from '../credential-fields.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { scalarOf, type Fields } from './payload.ts'
import { keyRefusals } from './refusals.ts'
import { signatureOf, signedFields } from './signature.ts'

export const defaultApiBase = 'https://pay.hutko.org'

/** The provider's calls that we use, by their path below `/api`. */
export type Call = 'checkout/url' | 'status/order_id' | 'reverse/order_id' | 'recurring'

/** What is sent; empty values count as absent. */
export type Parameters = Readonly<Record<string, string>>

/** Errors come with HTTP 200, unsigned, and a code. */
export type Reply = { readonly call: Call } & (
  | { readonly ok: true; readonly fields: Fields }
  | { readonly ok: false; readonly code: string }
)

/** Errors: `gateway_not_configured`, `provider_unreachable`, `provider_reply_invalid`. */
export interface HutkoApi {
  /** One request, signed with the first key. */
  send(call: Call, parameters: Parameters): Promise<Reply>
  /** Changes nothing: while the key is being replaced, the keys are tried one after the other. */
  read(call: Call, parameters: Parameters): Promise<Reply>
}

type Access = Pick<InterpretContext, 'credentials' | 'signal'>

/**
 * The API for the merchant with whom a payment was made: another merchant has no such order. Error:
 * `gateway_not_configured`.
 */
export function openApi(
  { merchantAccount }: Pick<Payment, 'merchantAccount'>,
  access: Access,
): HutkoApi {
  const { credentials } = access
  const { settings, secrets } = credentials
  const { merchant_id: merchantId } = settings
  const [first, ...others] = secrets.secret_key ?? []
  if (merchantId === undefined || first === undefined) {
    throw notConfigured(`without ${keyVariables(credentials)}`)
  }
  if (merchantAccount !== null && merchantAccount !== merchantId) {
    throw notConfigured(`in the name of merchant ${detail(merchantAccount)}`)
  }
  const ask = (call: Call, parameters: Parameters, key: Secret) =>
    askOnce({ call, parameters: { ...parameters, merchant_id: merchantId }, key }, access)
  return {
    send: (call, parameters) => ask(call, parameters, first),
    read: async (call, parameters) => {
      let reply = await ask(call, parameters, first)
      for (const key of others) {
        if (reply.ok || !keyRefusals.has(reply.code)) break
        reply = await ask(call, parameters, key)
      }
      return reply
    },
  }
}

interface Question {
  readonly call: Call
  readonly parameters: Parameters
  readonly key: Secret
}

/** https://docs.fondy.eu, "Request generation"; with version 1.0.1 replies say most. */
async function askOnce(
  { call, parameters, key }: Question,
  { credentials, signal }: Access,
): Promise<Reply> {
  const base = credentials.settings.api_base ?? defaultApiBase
  const api = createProviderApi({ title: 'hutko', base, account: credentials.gateway })
  const request = signRequest({ ...parameters, version: '1.0.1' }, key)
  try {
    return readReply(call, await api.post(`api/${call}`, { json: { request }, signal }))
  } catch (error) {
    // It is not documented which statuses come with errors: only the provider's own code counts.
    if (!isQuittanceError(error) || error.code !== 'provider_refused') throw error
    const { providerCode: code } = error
    if (code === undefined) throw new QuittanceError('provider_unreachable', error.message)
    return { call, ok: false, code }
  }
}

function signRequest(parameters: Parameters, key: Secret): Parameters {
  const signed = signedFields(new Map(Object.entries(parameters)))
  if (!signed.ok || signed.fields === undefined) {
    throw new QuittanceError('payment_invalid', 'a text of the payment is no text that hutko takes')
  }
  const signature = Buffer.from(signatureOf(key, signed.text)).toString('hex')
  return { ...Object.fromEntries(signed.fields), signature }
}

function readReply(call: Call, reply: JsonValue | undefined): Reply {
  const fields = within(reply ?? null, 'response')
  if (!isJsonObject(fields)) throw invalidReply(call, 'nothing that it documents')
  const code = scalarOf(fields.get('error_code'))
  if (code === undefined && fields.get('response_status') !== 'failure') {
    return { call, ok: true, fields }
  }
  const said = code ?? scalarOf(fields.get('response_code')) ?? 'no code'
  return { call, ok: false, code: detail(said) }
}

/** It is unknown what became of the request. */
export function invalidReply(call: Call, what: string): QuittanceError {
  return new QuittanceError('provider_reply_invalid', `hutko answered ${call} with ${what}`)
}

/** Where the merchant and its key are set. */
export function keyVariables(credentials: Credentials): string {
  return `${variableFor(credentials, 'merchant_id')} and ${variableFor(credentials, 'secret_key')}`
}

function notConfigured(lack: string): QuittanceError {
  return new QuittanceError('gateway_not_configured', `hutko cannot be asked ${lack}`)
}
