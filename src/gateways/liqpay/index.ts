import { days } from '../../kernel/duration.ts'
import { apiBaseField } from '../api/api-base-field.ts'
import { plainAcknowledgment, smallBody, type AccountBinding, type Gateway } from '../gateway.ts'
import type { CredentialFields, Credentials } from '../credential-fields.ts'
import { defaultApiBase } from './api.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { liqpayCheckout } from './checkout.ts'
import { declines } from './declines.ts'
import { interpretLiqpay } from './interpret.ts'
import { moneyFault } from './money-fault.ts'
import { isOwnPublicKey, isSandboxKey, parseCallback } from './payload.ts'
import { pollLiqpay } from './poll.ts'
import { refundLiqpay } from './refund.ts'
import { liqpaySigner } from './samples/sign.ts'
import { refusalReasons, verifySignature } from './signature.ts'

const credentials = {
  public_key: {
    env: ['LIQPAY_PUBLIC_KEY'],
    secret: false,
    required: true,
    accepts: {
      expected: 'the public key of one shop (i... or sandbox_i...)',
      test: isOwnPublicKey,
    },
    description: 'Public key of the shop (i..., for tests sandbox_i...).',
    sample: (owner) => `sandbox_${owner}_public_key_of_liqpay`,
  },
  private_key: {
    env: ['LIQPAY_PRIVATE_KEY'],
    secret: true,
    required: true,
    // The keys of LiqPay's documentation: the second one comes with a shop i00000000.
    publicValues: ['your_private_key', 'a4825234f4bae72a0be04eafe9e8e2bada209255'],
    description: 'Private key of the shop; several while it is replaced.',
  },
  api_base: apiBaseField(['LIQPAY_API_BASE'], defaultApiBase),
} as const satisfies CredentialFields

function account({ settings }: Credentials): AccountBinding {
  const { public_key: publicKey } = settings
  return publicKey === undefined
    ? { merchantAccount: null, live: null }
    : { merchantAccount: publicKey, live: !isSandboxKey(publicKey) }
}

/** LiqPay (PrivatBank), API version 3. Protocol and choices: README.md beside this file. */
export const liqpay: Gateway = {
  name: 'liqpay',
  title: 'LiqPay',
  aliases: ['sha1-base64'],
  scheme: 'SHA-1 over the private key, the base64 data and the key again',
  webhook_requires_dashboard_setup: false,
  callbackUrlField: 'server_url',
  credentials,
  verification: 'signature',
  maxBodyBytes: smallBody,
  credentialHeaders: [],
  secretFields: ['card_token'],
  readFields: [
    'action',
    'amount',
    'card_token',
    'code',
    'completion_date',
    'create_date',
    'currency',
    'end_date',
    'err_code',
    'order_id',
    'payment_id',
    'paytype',
    'public_key',
    'refund_amount',
    'sender_card_mask2',
    'sender_card_type',
    'status',
    'type',
    'version',
    'wait_reserve_status',
  ],
  // LiqPay publishes no schedule; this is as long as the longest published one of other providers.
  retryWindow: days(3),
  account,
  verify: verifySignature,
  refusalReasons,
  parse: parseCallback,
  acknowledge: () => plainAcknowledgment,
  interpret: (payload) => Promise.resolve(interpretLiqpay(payload)),
  signer: liqpaySigner,
  checkout: liqpayCheckout,
  moneyFault,
  poll: pollLiqpay,
  refund: refundLiqpay,
  partialRefund: true,
  chargeSavedCard,
  declines,
}
