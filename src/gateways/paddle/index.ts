import { days } from '../../kernel/duration.ts'
import { apiBaseField } from '../api/api-base-field.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { plainAcknowledgment, type AccountBinding, type Gateway } from '../gateway.ts'
import type { CredentialFields, Credentials } from '../credential-fields.ts'
import { isHttpUrl } from '../is-http-url.ts'
import { toleranceField } from '../signing/timestamped-signature.ts'
import { liveApiBase } from './api.ts'
import { paddleBackfill } from './backfill.ts'
import { paddleCheckoutPage } from './checkout-page/checkout-page.ts'
import { openCheckout } from './checkout.ts'
import { closeCheckout } from './close-checkout.ts'
import { dashboardUrl } from './dashboard-url.ts'
import { interpretPaddle } from './interpret.ts'
import { moneyFault } from './money-fault.ts'
import { mostPerPage } from './find-transaction.ts'
import { pollPayment, pollPayments } from './poll.ts'
import { refundPayment } from './refund.ts'
import { paddleRegistration } from './registration.ts'
import { removeSavedCard } from './remove-saved-card.ts'
import { paddleSigner } from './samples/sign.ts'
import { refusalReasons, signatureHeaders, verifySignature } from './signature.ts'
import { paddleSubscriptions } from './subscriptions.ts'

const credentials = {
  signing_secret: {
    env: ['PADDLE_SIGNING_SECRET', 'BETA_SIGNING_SECRET'],
    secret: true,
    required: true,
    description:
      'Secret key of the notification destination (pdl_ntfset_...); several while it is rotated.',
  },
  api_key: {
    env: ['PADDLE_API_KEY', 'BETA_API_KEY'],
    secret: true,
    required: false,
    description:
      'API key for checkouts, refunds, polls and look-ups (pdl_live_apikey_... or pdl_sdbx_apikey_...).',
  },
  api_base: apiBaseField(
    ['PADDLE_API_BASE', 'BETA_API_BASE'],
    liveApiBase,
    'Where the API is reached; https://sandbox-api.paddle.com for a sandbox account.',
  ),
  client_token: {
    env: ['PADDLE_CLIENT_TOKEN', 'BETA_CLIENT_TOKEN'],
    secret: false,
    required: false,
    // It is on a public page, so it must not be an API key.
    accepts: {
      expected: 'a client-side token (live_... or test_...)',
      test: (text) => /^(?:live|test)_[A-Za-z0-9]+$/.test(text),
    },
    description: 'Client-side token of our checkout page (live_... or test_...).',
  },
  checkout_url: {
    env: ['PADDLE_CHECKOUT_URL', 'BETA_CHECKOUT_URL'],
    secret: false,
    required: false,
    accepts: { expected: 'an http(s) URL', test: isHttpUrl },
    description: "A page of yours that opens Paddle's checkout, instead of ours.",
  },
  tolerance_seconds: toleranceField(['PADDLE_TOLERANCE_SECONDS', 'BETA_TOLERANCE_SECONDS']),
} as const satisfies CredentialFields

/** An API key shows its mode; keys that disagree show nothing, nor does having none. */
function account({ secrets }: Credentials): AccountBinding {
  const keys = (secrets.api_key ?? []).map((key) => key.reveal())
  const all = (prefix: string) => keys.length > 0 && keys.every((key) => key.startsWith(prefix))
  return { merchantAccount: null, live: all('pdl_live_') ? true : all('pdl_sdbx_') ? false : null }
}

/** Paddle Billing, the spec's Beta. Protocol and choices: README.md beside this file. */
export const paddle: Gateway = {
  name: 'paddle',
  title: 'Paddle',
  aliases: ['beta'],
  scheme: 'HMAC-SHA256 over the timestamp and the raw body, 5 minute window',
  webhook_requires_dashboard_setup: true,
  credentials,
  verification: 'signature',
  credentialHeaders: signatureHeaders,
  secretFields: [],
  readFields: [
    'action',
    'amount',
    'billed_at',
    'brand',
    'captured_at',
    'code',
    'collection_mode',
    'currency_code',
    'customer_id',
    'ends_at',
    'event_id',
    'event_type',
    'expiry_month',
    'expiry_year',
    'id',
    'invoice_number',
    'last4',
    'name',
    'occurred_at',
    'origin',
    'payment_id',
    'payment_method_id',
    'quantity',
    'reason',
    'starts_at',
    'status',
    'subscription_id',
    'total',
    'transaction_id',
    'type',
  ],
  // A live account's window; a sandbox gives up after a quarter of an hour.
  retryWindow: days(3),
  account,
  verify: verifySignature,
  refusalReasons,
  answersUnread: plainAcknowledgment,
  parse: (request) => parseJsonBody(request.body),
  acknowledge: () => plainAcknowledgment,
  interpret: interpretPaddle,
  signer: paddleSigner,
  dashboardUrl,
  apiCredential: 'api_key',
  checkout: { kind: 'api', open: openCheckout },
  moneyFault,
  poll: pollPayment,
  pollTogether: { most: mostPerPage, ask: pollPayments },
  pollsRenewals: true,
  // Paddle takes 240 requests a minute from one address, and a poll may need several.
  pollsPerMinute: 60,
  refund: refundPayment,
  partialRefund: true,
  removeSavedCard,
  closeCheckout,
  subscriptions: paddleSubscriptions,
  registration: paddleRegistration,
  backfill: paddleBackfill,
  browserPages: [paddleCheckoutPage],
}
