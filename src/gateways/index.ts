/** What a gateway of your own is made of; pass it to `createBilling` as one of `extraGateways`. */
export { builtin } from './builtin.ts'

export { invalid, plainAcknowledgment, unavailable, valid, validBy, validIn } from './gateway.ts'
export type {
  AccountBinding,
  Acknowledgment,
  Gateway,
  RawRequest,
  SignedCallback,
  Signer,
  SignInput,
  Verdict,
} from './gateway.ts'
export type { InterpretContext } from './interpret-context.ts'
export { variableFor } from './credential-fields.ts'
export type { CredentialField, CredentialFields, Credentials } from './credential-fields.ts'
export type { Meaning, Scenario } from './scenario.ts'

// Reading a body: never throws, and no amount passes through a float.
export { isJsonObject, numberTextOf, path, textOf } from './body/json.ts'
export type { JsonNumber, JsonObject, JsonValue } from './body/json.ts'
export { parseFormBody } from './body/parse-form-body.ts'
export { parseJsonBody } from './body/parse-json-body.ts'
export { flatFields } from './body/parse-json.ts'
export type { JsonLimits } from './body/parse-json.ts'
export type { Payload, UnreadableReason } from './body/payload.ts'

// Checking a signature.
export { decodeCanonicalBase64 } from './signing/canonical-base64.ts'
export { decodeCanonicalHex } from './signing/canonical-hex.ts'
export { constantTimeEqual } from './signing/constant-time-equal.ts'
export { findHmacSha256Secret, hmacSha256, matchesHmacSha256 } from './signing/hmac.ts'
export type { SignedText } from './signing/hmac.ts'
export type { Secret } from '../kernel/secret.ts'

// A page of the gateway's own for payers' browsers.
export type { BrowserPage, BrowserPageContent } from './browser-page.ts'

// Operations at the provider.
export type {
  Backfill,
  ChargeReply,
  ChargeRequest,
  CheckoutForm,
  CheckoutOperation,
  CheckoutRequest,
  OpenedCheckout,
  Operations,
  PastEvent,
  PollReply,
  PollRequest,
  PollTogether,
  Recurrence,
  RefundReply,
  RefundRequest,
  RegisteredEndpoint,
  Registration,
  RemoveCardRequest,
  Standing,
} from './operations.ts'
export type { OperationContext } from './interpret-context.ts'
export type {
  SubscriptionOperations,
  SubscriptionReply,
  SubscriptionRequest,
  SubscriptionWishRequest,
} from './subscription-operations.ts'
export type { StatedFailure, SubscriptionStatement } from '../subscriptions/statement.ts'

export { createProviderApi } from './api/provider-api.ts'
export type { ProviderApi } from './api/provider-api.ts'
export type {
  ChangeMethod,
  ProviderAnswer,
  ProviderApiOptions,
  RequestBody,
  RequestOptions,
} from './api/exchange.ts'
export { checkoutLanguage } from './checkout-language.ts'
export { isHttpUrl } from './is-http-url.ts'

// What a callback states.
export { detail } from './detail.ts'
export { ignored } from '../payments/outcome.ts'
export type {
  AccountStatement,
  ClaimedReference,
  DisputeOutcome,
  AboutMoney,
  IgnoredOutcome,
  InvoiceOutcome,
  Outcome,
  PaymentMethodOutcome,
  PaymentOutcome,
  PaymentReference,
  RefundedTotalOutcome,
  RefundOutcome,
  SingleRefundOutcome,
  StatedInvoiceLine,
  StatedPeriod,
  SubscriptionOutcome,
} from '../payments/outcome.ts'
export type { DeclineKind } from '../payments/decline.ts'
export type { PaymentStatus } from '../payments/payment.ts'
export { days, hours, minutes, seconds } from '../kernel/duration.ts'
export type { Duration } from '../kernel/duration.ts'
export { readUuid } from '../kernel/uuid.ts'
export type { Log } from '../kernel/log.ts'
export { findCurrency, findCurrencyByNumber } from '../kernel/currency.ts'
export type { Currency } from '../kernel/currency.ts'
export { formatMajorUnits, isCurrency, parseMajorUnits, parseMinorUnits } from '../kernel/money.ts'
export { isMaskedToken, tokenReference } from './signing/token-reference.ts'
export { secret } from '../kernel/secret.ts'
export type { DisputeStatus } from '../payments/dispute.ts'
export type { PaymentMethodDetails, PaymentMethodStatus } from '../payments/payment-method.ts'
export { ignoredReasons } from '../payments/reasons.ts'
export type { IgnoredReason } from '../payments/reasons.ts'
