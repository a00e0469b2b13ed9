import { QuittanceError } from '../../kernel/errors.ts'
import type { Secret } from '../../kernel/secret.ts'
import { createProviderApi } from '../api/provider-api.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../gateway.ts'
import { scalarOf, type SignedFields } from './payload.ts'
import { authenticate, signTexts } from './signature.ts'

export const defaultApiBase = 'https://api.wayforpay.com'

/** What WayForPay's API says of an order now. */
export interface OrderStatus {
  readonly signed: SignedFields
  /** All of the reply; what is not signed comes from the API itself, not from whoever called. */
  readonly fields: JsonObject
}

type Access = Pick<InterpretContext, 'credentials' | 'signal'>

/**
 * CHECK_STATUS of the order that a callback is about; changes nothing at WayForPay. Errors:
 * `gateway_not_configured`, `provider_unreachable`, `provider_refused`, `provider_reply_invalid`.
 */
export async function checkStatus(callback: SignedFields, access: Access): Promise<OrderStatus> {
  const { merchantAccount, orderReference } = callback
  if (access.credentials.settings.merchant_account !== merchantAccount) {
    throw notConfigured(`for the merchant account ${detail(merchantAccount)}`)
  }
  const reply = await firstReply(callback, access)
  const found = authenticate(reply, access.credentials)
  if (!found.ok) throw unusable(found.reason, reasonCodeOf(reply))
  if (found.signed.orderReference !== orderReference) throw unusable('another_order')
  return { signed: found.signed, fields: reply }
}

const invalidSignature = '1113'

/** While the secret is replaced, only WayForPay knows which of them counts by now. */
async function firstReply(callback: SignedFields, access: Access): Promise<JsonObject> {
  const [first, ...others] = access.credentials.secrets.secret_key ?? []
  if (first === undefined) throw notConfigured('without WAYFORPAY_SECRET_KEY')
  let reply = await ask(callback, first, access)
  for (const secret of others) {
    if (reasonCodeOf(reply) !== invalidSignature) break
    reply = await ask(callback, secret, access)
  }
  return reply
}

async function ask(
  { merchantAccount, orderReference }: SignedFields,
  secret: Secret,
  { credentials: { settings }, signal }: Access,
): Promise<JsonObject> {
  const api = createProviderApi({ title: 'WayForPay', base: settings.api_base ?? defaultApiBase })
  const json = {
    transactionType: 'CHECK_STATUS',
    merchantAccount,
    orderReference,
    merchantSignature: signTexts(secret, [merchantAccount, orderReference]),
    apiVersion: 1,
  }
  const reply = await api.post('api', { json, signal })
  if (reply === undefined) throw unusable('not_found')
  if (!isJsonObject(reply)) throw unusable('not_an_object')
  return reply
}

function reasonCodeOf(reply: JsonObject): string | undefined {
  return scalarOf(reply.get('reasonCode'))
}

const ok = '1100'

/** Errors come with HTTP 200, unsigned, and a reason code. */
function unusable(reason: string, reasonCode: string = ok): QuittanceError {
  return reasonCode === ok
    ? new QuittanceError('provider_reply_invalid', `WayForPay answered CHECK_STATUS: ${reason}`)
    : new QuittanceError(
        'provider_refused',
        `WayForPay answered CHECK_STATUS with reason code ${detail(reasonCode)} (${reason})`,
      )
}

function notConfigured(lack: string): QuittanceError {
  return new QuittanceError(
    'gateway_not_configured',
    `WayForPay cannot be asked about an order ${lack}`,
  )
}
