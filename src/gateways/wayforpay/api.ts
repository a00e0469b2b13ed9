import { QuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { variableFor } from '../credential-fields.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { scalarOf } from './payload.ts'
import { reasonCodeOf, reasonCodes, unusable } from './reason-code.ts'
import { signTexts } from './signature.ts'

export const defaultApiBase = 'https://api.wayforpay.com'

/** What a request to the API may use. */
export type Access = Pick<InterpretContext, 'credentials' | 'signal'>

/** A request, without the merchant account, the signature and the version. */
export interface ApiRequest {
  readonly transactionType: string
  readonly orderReference: string
  /** The rest of its content; numbers whose literal is signed are given as `rawNumber`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** What is signed after the merchant account, as written, in WayForPay's order. */
  readonly signedTexts: readonly string[]
}

/**
 * Asks once, signed with the first secret: for requests that must not be repeated. Errors of both:
 * `gateway_not_configured`, `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
 */
export async function askOnce(request: ApiRequest, access: Access): Promise<JsonObject> {
  return ask(request, secretsOf(access)[0], access)
}

/**
 * Asks what may be asked again. While the secret is being replaced, only WayForPay knows which one
 * is valid: if it refuses one, the next is tried.
 */
export async function askWithAnySecret(request: ApiRequest, access: Access): Promise<JsonObject> {
  const [first, ...others] = secretsOf(access)
  let reply = await ask(request, first, access)
  for (const secret of others) {
    if (reasonCodeOf(reply) !== reasonCodes.invalidSignature) break
    reply = await ask(request, secret, access)
  }
  return reply
}

async function ask(request: ApiRequest, secret: Secret, access: Access): Promise<JsonObject> {
  const { transactionType, orderReference, fields, signedTexts } = request
  const { settings, gateway } = access.credentials
  const merchantAccount = accountFor(null, access)
  const base = settings.api_base ?? defaultApiBase
  const api = createProviderApi({ title: 'WayForPay', base, account: gateway })
  const json = {
    transactionType,
    merchantAccount,
    orderReference,
    ...fields,
    merchantSignature: signTexts(secret, [merchantAccount, ...signedTexts]),
    apiVersion: 1,
  }
  const reply = await api.post('api', { json, signal: access.signal })
  if (reply === undefined) throw unusable(transactionType, 'not_found')
  if (!isJsonObject(reply)) throw unusable(transactionType, 'not_an_object')
  if (isAboutAnother(reply, orderReference)) throw unusable(transactionType, 'another_order')
  return reply
}

/** Errors do not always name the order. */
function isAboutAnother(reply: JsonObject, orderReference: string): boolean {
  const named = scalarOf(reply.get('orderReference')) ?? orderReference
  return named !== orderReference
}

/** Our merchant account. If the payment was made with one, it must be the same. */
export function accountFor(made: string | null, { credentials }: Access): string {
  const own = credentials.settings.merchant_account
  if (own === undefined) {
    throw notConfigured(`without ${variableFor(credentials, 'merchant_account')}`)
  }
  if (made === null || made === own) return own
  throw notConfigured(`for the merchant account ${detail(made)}`)
}

function secretsOf({ credentials }: Access): readonly [Secret, ...Secret[]] {
  const [first, ...others] = credentials.secrets.secret_key ?? []
  if (first === undefined) throw notConfigured(`without ${variableFor(credentials, 'secret_key')}`)
  return [first, ...others]
}

function notConfigured(lack: string): QuittanceError {
  return new QuittanceError('gateway_not_configured', `WayForPay cannot be asked ${lack}`)
}
