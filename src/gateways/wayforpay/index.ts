import { days } from '../../kernel/duration.ts'
import { apiBaseField } from '../api/api-base-field.ts'
import { smallBody, type AccountBinding, type Gateway } from '../gateway.ts'
import type { CredentialFields, Credentials } from '../credential-fields.ts'
import { bindingOf, testMerchant } from './account.ts'
import { acknowledge } from './acknowledge.ts'
import { defaultApiBase } from './api.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { openCheckout } from './checkout.ts'
import { closeCheckout } from './close-checkout.ts'
import { declines } from './declines.ts'
import { interpretWayforpay } from './interpret.ts'
import { moneyFault } from './money-fault.ts'
import { parseCallback, signedFieldNames } from './payload.ts'
import { pollWayforpay } from './poll.ts'
import { refundWayforpay } from './refund.ts'
import { wayforpaySigner } from './samples/sign.ts'
import { refusalReasons, verifySignature } from './signature.ts'

const credentials = {
  merchant_account: {
    env: ['WAYFORPAY_MERCHANT_ACCOUNT'],
    secret: false,
    required: true,
    publicValues: [testMerchant.account],
    description: 'Merchant login of the store.',
  },
  secret_key: {
    env: ['WAYFORPAY_SECRET_KEY'],
    secret: true,
    required: true,
    publicValues: [testMerchant.secretKey],
    description: 'Merchant secret key of the store; several while it is replaced, new first.',
  },
  api_base: apiBaseField(['WAYFORPAY_API_BASE'], defaultApiBase),
} as const satisfies CredentialFields

function account({ settings }: Credentials): AccountBinding {
  const { merchant_account: merchantAccount } = settings
  return merchantAccount === undefined
    ? { merchantAccount: null, live: null }
    : bindingOf(merchantAccount)
}

/** WayForPay. Protocol and choices: README.md beside this file. */
export const wayforpay: Gateway = {
  name: 'wayforpay',
  title: 'WayForPay',
  aliases: ['md5'],
  scheme: 'HMAC-MD5 over eight fields of the body joined by semicolons',
  webhook_requires_dashboard_setup: false,
  callbackUrlField: 'serviceUrl',
  credentials,
  verification: 'signature',
  maxBodyBytes: smallBody,
  credentialHeaders: [],
  secretFields: ['recToken'],
  readFields: [...signedFieldNames, 'recToken'],
  retryWindow: days(4),
  account,
  verify: verifySignature,
  refusalReasons,
  parse: parseCallback,
  acknowledge,
  interpret: interpretWayforpay,
  signer: wayforpaySigner,
  checkout: { kind: 'api', open: openCheckout },
  moneyFault,
  poll: pollWayforpay,
  pollsRenewals: true,
  refund: refundWayforpay,
  partialRefund: true,
  chargeSavedCard,
  declines,
  closeCheckout,
}
