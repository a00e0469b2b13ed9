import { days } from '../../kernel/duration.ts'
import { apiBaseField } from '../api/api-base-field.ts'
import { parseJsonBody } from '../body/parse-json-body.ts'
import { plainAcknowledgment, type Gateway } from '../gateway.ts'
import type { CredentialFields } from '../credential-fields.ts'
import { toleranceField } from '../signing/timestamped-signature.ts'
import { backfill } from './backfill.ts'
import { chargeSavedCard } from './charge-saved-card.ts'
import { openCheckout } from './checkout.ts'
import { closeCheckout } from './close-checkout.ts'
import { dashboardUrl } from './dashboard-url.ts'
import { declines } from './declines.ts'
import { interpretStripe } from './interpret.ts'
import { modeOfKeys } from './keys.ts'
import { moneyFault } from './money-fault.ts'
import { pollStripe } from './poll.ts'
import { refundCharge } from './refund.ts'
import { registration } from './registration.ts'
import { removeSavedCard } from './remove-saved-card.ts'
import { stripeSigner } from './samples/sign.ts'
import { subscriptions } from './subscriptions.ts'
import { refusalReasons, signatureHeaders, verifySignature } from './signature.ts'

const credentials = {
  signing_secret: {
    env: ['STRIPE_SIGNING_SECRET', 'ALPHA_SIGNING_SECRET'],
    secret: true,
    required: true,
    description: 'Signing secret of the webhook endpoint (whsec_...); several while it is rolled.',
  },
  secret_key: {
    env: ['STRIPE_SECRET_KEY', 'ALPHA_SECRET_KEY'],
    secret: true,
    required: false,
    description:
      'API key for checkouts, refunds, polls and look-ups (sk_live_..., sk_test_... or a restricted rk_...).',
  },
  api_base: apiBaseField(['STRIPE_API_BASE', 'ALPHA_API_BASE'], 'https://api.stripe.com'),
  tolerance_seconds: toleranceField(['STRIPE_TOLERANCE_SECONDS', 'ALPHA_TOLERANCE_SECONDS']),
} as const satisfies CredentialFields

/** Stripe, the spec's Alpha. Protocol and choices: README.md beside this file. */
export const stripe: Gateway = {
  name: 'stripe',
  title: 'Stripe',
  aliases: ['alpha'],
  scheme: 'HMAC-SHA256 over the timestamp and the raw body, 5 minute window',
  webhook_requires_dashboard_setup: true,
  credentials,
  verification: 'signature',
  credentialHeaders: signatureHeaders,
  secretFields: [],
  readFields: [
    'account',
    'advice_code',
    'amount',
    'amount_due',
    'amount_paid',
    'amount_received',
    'amount_refunded',
    'amount_total',
    'api_version',
    'attempt_count',
    'billing_reason',
    'brand',
    'card',
    'charge',
    'client_reference_id',
    'code',
    'created',
    'currency',
    'customer',
    'decline_code',
    'description',
    'due_date',
    'effective_at',
    'end',
    'exp_month',
    'exp_year',
    'failure_reason',
    'finalized_at',
    'has_more',
    'hosted_invoice_url',
    'id',
    'invoice',
    'last4',
    'last_payment_error',
    'livemode',
    'mode',
    'next_action',
    'number',
    'object',
    'off_session',
    'paid_at',
    'payment',
    'payment_id',
    'payment_intent',
    'payment_method',
    'payment_status',
    'proration',
    'quantity',
    'reason',
    'refund',
    'refund_id',
    'setup_future_usage',
    'setup_intent',
    'start',
    'status',
    'subscription',
    'total',
    'type',
  ],
  // Automatic redelivery in live mode; what a person resends by hand can be up to 30 days old.
  retryWindow: days(3),
  // An API key shows its mode.
  account: ({ secrets }) => ({
    merchantAccount: null,
    live: modeOfKeys(secrets.secret_key ?? []),
  }),
  verify: verifySignature,
  refusalReasons,
  answersUnread: plainAcknowledgment,
  parse: (request) => parseJsonBody(request.body),
  acknowledge: () => plainAcknowledgment,
  interpret: interpretStripe,
  signer: stripeSigner,
  dashboardUrl,
  apiCredential: 'secret_key',
  checkout: { kind: 'api', open: openCheckout },
  moneyFault,
  poll: pollStripe,
  pollsRenewals: true,
  refund: refundCharge,
  partialRefund: true,
  chargeSavedCard,
  declines,
  removeSavedCard,
  closeCheckout,
  subscriptions,
  registration,
  backfill,
}
