/**
 * Every failure that a user can meet, by its stable code: what it means and how to fix it.
 * `docs/errors.md` lists the same codes.
 */
export const errorCatalogue = {
  setting_invalid: 'Correct it where it is set: the environment, .env or quittance.config.ts.',
  webhook_path_without_gateway:
    'Put the segment {gateway} into webhook.path (BILLING_WEBHOOK_PATH).',
  retention_too_short:
    'Raise BILLING_WEBHOOK_PRUNE_AFTER_DAYS, webhook.prune_after_days (file), or pruneAfterDays (app).',
  queue_connection_unknown: 'Set BILLING_QUEUE_CONNECTION to one of the named connections.',
  database_unreachable: 'Check that the server runs and that DATABASE_URL names it.',
  database_tls_failed: 'See docs/5-operations.md#tls-to-the-database.',
  database_rejected: 'Check the user, password and database name in DATABASE_URL.',
  database_version_unsupported: 'Use PostgreSQL 15 or newer.',
  database_encoding_unsupported: "Create the database with: create database ... encoding 'UTF8'",
  database_setting_unsuitable: 'Set it as the message says for the role: alter role NAME set ...',
  database_not_durable:
    'Turn synchronous_commit (and fsync) on: an acknowledged callback must survive a crash.',
  database_schema_in_use: 'End that session, or wait for it; then run: quittance migrate',
  database_schema_outdated: 'Run: quittance migrate',
  embedded_in_production:
    'Set DATABASE_URL to a PostgreSQL server; the embedded database does not survive a power cut.',
  embedded_in_use: 'Stop the other process, or give this one its own folder with BILLING_DATA_DIR.',
  embedded_not_running: 'Start it: npm start, or quittance serve; or set DATABASE_URL.',
  embedded_damaged: 'Restore the data folder from a backup, or move it away to start empty.',
  package_bundled:
    "Leave Quittance out of the bundle; in next.config.ts: serverExternalPackages: ['quittance'].",
  embedded_no_space: 'Free some disk space, or set BILLING_DATA_DIR to a folder on another disk.',
  embedded_lost: 'Start the service again; acknowledged calls are kept.',
  gateway_unknown: 'Use one of the registered gateways: quittance gateways',
  gateway_cannot_sign: 'Use `send` with a gateway that can sign test callbacks.',
  gateway_not_configured: 'Set the credentials of the gateway; quittance gateways names them.',
  provider_unreachable:
    'Calls and polls are retried automatically; repeat a command. Check the network and the API base.',
  provider_refused: "Check the API credentials and their permissions in the provider's dashboard.",
  provider_reply_invalid: "Check the API base of the gateway: it must be the provider's.",
  backfill_too_old: 'Give a later --since: the provider lists nothing older.',
  public_url_unusable:
    'Set APP_URL to the public https origin of this service, or APP_NGROK_URL to that of a tunnel.',
  service_unreachable:
    'Start it: npm start, quittance serve, or your app. If it runs elsewhere: set APP_URL, or give --url.',
  service_other_database:
    'Give --url, or the PORT or APP_URL of your service, or its DATABASE_URL or BILLING_DATA_DIR.',
  send_refused: 'See the log of the service, or run: quittance doctor',
  send_unexpected: 'See why: quittance calls list',
  send_in_production: 'If that is what you want, give --yes, and --payment ID.',
  send_url_foreign:
    'Send to 127.0.0.1 on the machine of the service, or set APP_URL to its origin if it is yours.',
  payment_invalid: 'See what a payment takes: docs/7-money.md#create-it',
  return_url_not_allowed:
    'Add its origin to return_origins (BILLING_RETURN_ORIGINS), or use one that is there.',
  payment_method_not_found: 'Check the id: quittance payment-methods list',
  payment_method_unusable:
    'Use a saved card of this gateway and account: quittance payment-methods list',
  operation_unsupported: 'Use another gateway, or the dashboard of the provider.',
  gateway_call_in_transaction:
    'Do it in a queued listener ({ queued: true }), or after the transaction.',
  checkout_refused: 'See what the provider says; then create another payment.',
  checkout_unknown: 'Nothing is lost: the provider is asked again. Check the payment in a minute.',
  payment_not_refundable: 'Only a paid charge can be refunded.',
  payment_not_cancelable:
    "Refund a paid payment instead; if one needs a review, look in the provider's dashboard.",
  refund_invalid: 'See what a refund takes: docs/7-money.md#refunds',
  refund_exists: 'Use another id, or send the content that this refund was created with.',
  refund_too_large:
    'Refund at most what is left: refunds under way count as made, and disputes until they are won.',
  refund_refused: 'See what the provider says; no money has moved.',
  refund_under_way: 'Nothing is lost: the total is looked at again once the provider has answered.',
  refund_unknown:
    'Do not refund again: the provider is asked what became of it. Check the payment later.',
  payment_exists: 'Use another id, or send the content that this payment was created with.',
  subscription_invalid: 'See what it can be asked for: docs/13-subscriptions.md',
  subscription_exists:
    'Use another id, or send the content that this subscription was created with.',
  subscription_not_found: 'Check the id: quittance subscriptions list',
  subscription_ended: 'Create another one: an ended subscription never begins again.',
  usage_invalid: 'Nothing of it was counted. See what a record takes: docs/14-usage.md#record',
  usage_unavailable:
    'Record it again with the same keys, in a moment: what was counted already counts once.',
  renewal_under_way: 'Try again once its charge is decided: quittance subscriptions show ID',
  invoice_invalid: 'See what a document takes: docs/15-invoices.md#of-any-charge',
  invoice_exists: 'Use the document that is there, or void it first if it is still owed.',
  invoice_not_found: 'Check the id: quittance invoices list',
  invoice_not_voidable:
    'Refund what is paid; end the subscription of a period; a provider voids its own.',
  payment_not_found: 'Check the id: quittance payments list',
  call_not_found: 'Check the id: quittance calls list',
  call_in_progress: 'It runs on its own: `quittance calls show` says when it is due.',
  event_not_found: 'Check the id: quittance events list',
  run_invalid: 'See what a run takes: docs/5-operations.md#replaying-many',
  run_exists: 'Use another id, or send the filter that this run was started with.',
  run_not_found: 'List them: GET /billing/api/runs, or billing.runs.list().',
  review_invalid: 'See how a review is closed: docs/5-operations.md#calls-that-need-a-person',
  review_not_found: 'Check the id: quittance reviews list',
  review_handled: 'See what was found: quittance reviews show ID',
  query_invalid:
    'See what can be asked for: docs/10-library.md#optional-fields, or the command with --help.',
  cursor_invalid: 'Use the next_cursor of the previous page, unchanged.',
  cursor_unknown:
    'Was the database restored? Read on from a time, with since; what you have comes again.',
  feed_crowded: 'Try again in a moment; let fewer readers wait, or let one read for many.',
  encryption_key_missing: 'Set BILLING_ENCRYPTION_KEY: openssl rand -base64 32',
  endpoint_not_found: 'Check the name or id: quittance endpoints list',
  endpoint_exists: 'Use another name, or change the one that is there.',
  endpoint_invalid: 'See what an endpoint takes: docs/18-webhooks-out.md#1-declare-an-endpoint',
  endpoint_declared: 'Change it where it is declared: the environment or quittance.config.ts.',
  endpoint_url_refused:
    'Use a public https URL; for one in your own network, list its host in forward.allow.',
  operator_invalid: 'See how operators are added: docs/5-operations.md#operators',
  operator_exists:
    'Use another name, or remove the one that is there: quittance operators remove NAME',
  operator_not_found: 'Check the name: quittance operators list',
  billing_closed: 'Make a new billing with createBilling().',
  listener_unnamed: "Name it: billing.on('PaymentSucceeded', 'grantAccess', listener).",
  listener_duplicate:
    'Give each its own name. One listener of several events takes a list of types.',
  listener_missing:
    'Register it here too; a command: in quittance.config.ts. Removed: quittance listeners forget NAME',
  listener_not_found: 'Check the name: quittance listeners list',
  listener_timed_out: 'Make the listener faster, or register it with { queued: true }.',
  listener_broke_transaction:
    'Leave commit and rollback to Quittance, and let SQL errors reach it; use savepoints.',
  listener_too_late:
    'Give it in `listeners` of the options, or register it before billing.work() or billing.start().',
  transaction_control_refused:
    'End only what you began, in a plain transaction or a savepoint; its isolation level is fixed.',
  outer_handle_in_listener: 'Use the `tx` and `billing` that the listener is called with.',
  event_type_unknown: 'Use one of the names that docs/events.md lists.',
  usage: 'Run the command with --help.',
} as const

/** What can go wrong, by its stable code. */
export type ErrorCode = keyof typeof errorCatalogue

interface ErrorOptions {
  readonly cause?: unknown
  /** Replaces the catalogue's fix where that does not fit. */
  readonly fix?: string
  readonly providerCode?: string | undefined
  /** The message begins with it, or, where there is no such field, names it. */
  readonly field?: string | undefined
}

/**
 * The one error class: a stable `code`, a message that says what and where, and the `fix`.
 * Messages may carry the offending value, never a secret.
 */
export class QuittanceError extends Error {
  override readonly name = 'QuittanceError'
  readonly code: ErrorCode
  readonly fix: string
  /** The provider's own code for the failure, if the provider reported it. */
  declare readonly providerCode: string | undefined
  /** The field of the input that is wrong, in the names of the library: `payable.id`. */
  declare readonly field: string | undefined

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.fix = options.fix ?? errorCatalogue[code]
    // Node prints what an error has: only what there is.
    if (options.providerCode !== undefined) this.providerCode = options.providerCode
    if (options.field !== undefined) this.field = options.field
  }
}

/** What is wrong with a field of the input: `amount` `is required`. */
export function fieldError(code: ErrorCode, field: string, fault: string): QuittanceError {
  return new QuittanceError(code, `${field} ${fault}`, { field })
}

/** The message and the field, spelled as the caller has to spell it; an unknown one, as it came. */
export function spelled(
  { field, message }: QuittanceError,
  spell: (field: string) => string,
): { readonly message: string; readonly field: string | undefined } {
  if (field === undefined || !message.startsWith(field)) return { message, field }
  return { message: spell(field) + message.slice(field.length), field: spell(field) }
}

/** Whether a thrown value is a Quittance error, with a `code` and a `fix`. */
export function isQuittanceError(value: unknown): value is QuittanceError {
  // By its shape: an app may have loaded this package twice, and then there are two classes.
  return (
    value instanceof Error &&
    value.name === 'QuittanceError' &&
    'code' in value &&
    typeof value.code === 'string' &&
    Object.hasOwn(errorCatalogue, value.code)
  )
}

/** Marks a place that no member of a union can reach. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
