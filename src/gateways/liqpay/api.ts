import { QuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import type { Payment } from '../../payments/payment.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { isJsonObject, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { variableFor, type Credentials } from '../credential-fields.ts'
import { errorCodeOf } from './payload.ts'
import { saysNothingDone } from './refusals.ts'
import { signData, type DataFields } from './signed-data.ts'

export const defaultApiBase = 'https://www.liqpay.ua'

/** The shop with which a payment was made, as requests name and sign it. */
export interface Shop {
  readonly publicKey: string
  readonly privateKey: Secret
  /** While the key is being replaced: the others that may be valid. */
  readonly otherKeys: readonly Secret[]
  readonly base: string
  readonly account: string | undefined
}

/** Error: `gateway_not_configured`, also if the payment was made with another shop. */
export function shopOf(credentials: Credentials, payment: Payment): Shop {
  const { secrets, settings } = credentials
  const { public_key: publicKey, api_base: base = defaultApiBase } = settings
  const [privateKey, ...otherKeys] = secrets.private_key ?? []
  if (publicKey === undefined || privateKey === undefined) {
    throw notConfigured(`without ${keyVariables(credentials)}`)
  }
  const { merchantAccount } = payment
  if (merchantAccount !== null && merchantAccount !== publicKey) {
    throw notConfigured(`for the shop ${detail(merchantAccount)}, but for ${publicKey}`)
  }
  return { publicKey, privateKey, otherKeys, base, account: credentials.gateway }
}

/** Where the keys of a shop are set. */
export function keyVariables(credentials: Credentials): string {
  return `${variableFor(credentials, 'public_key')} and ${variableFor(credentials, 'private_key')}`
}

/** A request: `action` and its fields, without those that all requests have. */
export type ApiRequest = DataFields & { readonly action: string; readonly order_id: string }

/**
 * Asks once. The reply is not signed: only TLS shows that it comes from LiqPay. Errors:
 * `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
 */
export async function ask(
  shop: Omit<Shop, 'otherKeys'>,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<JsonObject> {
  const api = createProviderApi({ title: 'LiqPay', base: shop.base, account: shop.account })
  const form = signData(shop.privateKey, { version: 3, public_key: shop.publicKey, ...request })
  const reply = await api.post('api/request', { form, signal })
  if (!isJsonObject(reply)) throw replyInvalid(request.action, 'no object')
  return reply
}

/** Whether LiqPay says no; most errors come with HTTP 200. */
export function isError(reply: JsonObject): boolean {
  const status = textOf(reply.get('status'))
  return reply.get('result') === 'error' || status === 'error' || status === 'failure'
}

/** Whether the reply says how a payment stands: an error about the request names no payment. */
export function tellsPayment(reply: JsonObject): boolean {
  return !isError(reply) || (reply.get('payment_id') ?? null) !== null
}

/** The error of a request to move money that was answered with an error. */
export function refusalOf(action: string, reply: JsonObject): QuittanceError {
  const code = errorCodeOf(reply)
  return code !== undefined && saysNothingDone(code)
    ? refused(action, code)
    : replyInvalid(action, `an error that decides nothing (${code ?? 'without a code'})`)
}

export function refused(action: string, providerCode: string): QuittanceError {
  const message = `LiqPay answered ${action} with the error ${providerCode}`
  return new QuittanceError('provider_refused', message, { providerCode })
}

export function replyInvalid(action: string, found: string): QuittanceError {
  return new QuittanceError('provider_reply_invalid', `LiqPay answered ${action}: ${found}`)
}

function notConfigured(lack: string): QuittanceError {
  return new QuittanceError('gateway_not_configured', `LiqPay is not set up ${lack}`)
}
