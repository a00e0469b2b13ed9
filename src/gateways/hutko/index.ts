import { days } from '../../kernel/duration.ts'
import { apiBaseField } from '../api/api-base-field.ts'
import { plainAcknowledgment, smallBody, type AccountBinding, type Gateway } from '../gateway.ts'
import type { CredentialFields, Credentials } from '../credential-fields.ts'
import { infoFields } from './read-additional-info.ts'
import { defaultApiBase } from './api.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { openCheckout } from './checkout.ts'
import { declines } from './declines.ts'
import { interpretHutko } from './interpret.ts'
import { isLive, isMerchantId, sampleMerchantId, testKeys, testMerchants } from './merchant.ts'
import { moneyFault } from './money-fault.ts'
import { orderFields } from './read-order.ts'
import { parseCallback } from './payload.ts'
import { pollOrder } from './poll.ts'
import { refundOrder } from './refund.ts'
import { hutkoSigner } from './samples/sign.ts'
import { refusalReasons, verifySignature } from './signature.ts'

const credentials = {
  merchant_id: {
    env: ['HUTKO_MERCHANT_ID'],
    secret: false,
    required: true,
    accepts: { expected: 'the digits of one merchant id', test: isMerchantId },
    publicValues: testMerchants,
    sample: sampleMerchantId,
    description: 'Id of the merchant, from the technical settings of the portal.',
  },
  secret_key: {
    env: ['HUTKO_SECRET_KEY'],
    secret: true,
    required: true,
    publicValues: testKeys,
    description: 'Payment key of the merchant, not the credit key; several while it is replaced.',
  },
  api_base: apiBaseField(
    ['HUTKO_API_BASE'],
    defaultApiBase,
    'Host of the brand: https://pay.hutko.org, pay.fondy.eu or pay.flitt.com.',
  ),
} as const satisfies CredentialFields

function account({ settings }: Credentials): AccountBinding {
  const { merchant_id: merchantId } = settings
  return merchantId === undefined
    ? { merchantAccount: null, live: null }
    : { merchantAccount: merchantId, live: isLive(merchantId) ?? null }
}

/** hutko, Fondy and Flitt: one engine. Protocol and choices: README.md beside this file. */
export const hutko: Gateway = {
  name: 'hutko',
  title: 'hutko (Fondy, Flitt)',
  aliases: ['fondy', 'flitt', 'sha1-pipe'],
  scheme: 'SHA-1 over the payment key and the sorted values, joined by pipes',
  webhook_requires_dashboard_setup: false,
  callbackUrlField: 'server_callback_url',
  credentials,
  verification: 'signature',
  maxBodyBytes: smallBody,
  credentialHeaders: [],
  // In test mode the signed text is sent, too, with all values in it.
  secretFields: ['rectoken', 'response_signature_string'],
  readFields: [...orderFields, 'additional_info', ...infoFields, 'error_code', 'version'],
  // Redelivered after 2 s, 1 min, 5 min, 10 min, 1 h and a day: 25 h 16 min in all.
  retryWindow: days(2),
  account,
  verify: verifySignature,
  refusalReasons,
  parse: parseCallback,
  acknowledge: () => plainAcknowledgment,
  interpret: (payload) => Promise.resolve(interpretHutko(payload)),
  checkout: { kind: 'api', open: openCheckout },
  moneyFault,
  poll: pollOrder,
  refund: refundOrder,
  partialRefund: true,
  chargeSavedCard,
  declines,
  signer: hutkoSigner,
}
