// Written by "npm run tables" from src/billing/settings-schema.ts.
import type { Option } from './setting.ts'
import type { fileSettings as file } from './settings-schema.ts'

/** What quittance.config.ts may hold. The code that opens the billing sets the rest. */
export interface ConfigFileOptions {
  /**
   * Public origin of this service, e.g. `https://pay.example.com`: callback URLs begin with it. The
   * origin of a tunnel, in `APP_NGROK_URL`, wins.
   * @default `http://localhost:$PORT`
   */
  readonly url?: string | undefined
  readonly database?: {
    /**
     * `postgres://user:password@host:5432/name`, one host: see docs/5-operations.md#failover. Unset:
     * the embedded database.
     */
    readonly url?: string | undefined
    /**
     * The same database without the pooler that `url` goes through, for what a pooler cannot carry:
     * notifications and migrations. See docs/5-operations.md#poolers.
     */
    readonly direct_url?: string | undefined
    /**
     * Folder of the embedded database.
     * @default .quittance
     */
    readonly data_dir?: string | undefined
    /**
     * An embedded database that is gone after `close()`: for tests.
     * @default false
     */
    readonly memory?: boolean | undefined
    /**
     * Accept the embedded database under `NODE_ENV=production`: a power cut can damage it.
     * @default false
     */
    readonly allow_embedded_in_production?: boolean | undefined
    /**
     * The PostgreSQL schema of all tables: one for each installation that shares a database. Another
     * name finds other tables; it moves none.
     * @default billing
     */
    readonly schema?: string | undefined
    /**
     * Connections at most, on PostgreSQL; at least 2.
     * @default 10
     */
    readonly pool_size?: number | undefined
  }
  readonly webhook?: {
    /**
     * Route path with the segment `{gateway}`. Replaces both default paths.
     * @default `/billing/webhooks/{gateway}` and `/webhook/billing/{gateway}`
     */
    readonly path?: string | undefined
    /**
     * Hono middleware for the webhook route alone, such as `throttle`: see
     * docs/3-gateways.md#limiting-what-one-sender-may-send.
     */
    readonly middleware?: Option<typeof file.webhook.middleware> | undefined
    /**
     * Days that stored calls are kept; longer than any gateway redelivers.
     * @default 30
     */
    readonly prune_after_days?: number | undefined
    /**
     * Largest body of a callback, in bytes. Most gateways take 256 KiB at most.
     * @default 1048576
     */
    readonly max_body_bytes?: number | undefined
  }
  readonly billing?: {
    readonly queue?: {
      /**
       * `database`: workers process the stored calls. `sync`:
       * docs/5-operations.md#within-the-request.
       * @default database
       */
      readonly connection?: string | null | undefined
      /**
       * The queue name for new calls, for `work --queue`.
       * @default default
       */
      readonly queue?: string | null | undefined
    }
    /**
     * Keys of 32 bytes in base64; the first one encrypts: see
     * docs/configuration.md#the-encryption-key. Callbacks with card tokens, and the tokens of saved
     * cards, are kept only with a key.
     */
    readonly encryption_key?: string | undefined
  }
  readonly brand?: {
    /** Name of the shop, at the head of the pages that payers see and in their titles. */
    readonly name?: string | undefined
    /** An image beside the name: an https URL, or a `data:` URL of at most 64 KiB. */
    readonly logo?: string | undefined
    /**
     * Colour of the main button, such as `#0b6b3a`; in `.env` without the `#`. The text on it is white,
     * or black where white could not be read.
     */
    readonly color?: string | undefined
    /** Where payers find help: an e-mail address, a phone number or an https URL. */
    readonly support?: string | undefined
  }
  readonly review?: {
    /**
     * Whether money of a payment that is still unknown after a day needs a review: see
     * docs/5-operations.md#calls-that-need-a-person. Turn it off if other systems use the same
     * account with UUIDs.
     * @default true
     */
    readonly unknown_payments?: boolean | undefined
  }
  readonly search?: {
    /**
     * Names of `metadata` by whose texts and numbers `find` finds payments, such as `invoice_no`; 10 at
     * most. After a change, upkeep comes to the payments that are there.
     * @default none
     */
    readonly metadata?: Option<typeof file.search.metadata> | undefined
  }
  readonly subscriptions?: {
    /**
     * Whether access goes on while a declined renewal is tried again; a subscription may say
     * otherwise.
     * @default true
     */
    readonly grace_access?: boolean | undefined
    /**
     * Days from the first decline of a renewal to each further attempt. Empty: none is made.
     * @default `[1, 3, 5, 7]`
     */
    readonly retry_days?: Option<typeof file.subscriptions.retryDays> | undefined
    /**
     * What becomes of a subscription whose renewal is never paid: `cancel` or `pause`.
     * @default cancel
     */
    readonly on_unpaid?: string | undefined
    /**
     * Days before the end of a trial at which TrialWillEnd fires. Empty: never.
     * @default `[3]`
     */
    readonly trial_notice_days?: Option<typeof file.subscriptions.trialNoticeDays> | undefined
    /**
     * Days before the end of a paid period at which SubscriptionPeriodEnding fires. Empty: never.
     * @default `[3]`
     */
    readonly period_notice_days?: Option<typeof file.subscriptions.periodNoticeDays> | undefined
    /**
     * IANA name of the time zone in whose days and months periods are counted, such as `Europe/Kyiv`;
     * a subscription may say otherwise.
     * @default UTC
     */
    readonly time_zone?: string | undefined
    /**
     * How long the first payment of a subscription may take, in hours.
     * @default 24
     */
    readonly incomplete_hours?: number | undefined
    /**
     * How many saved cards a process charges at the same time.
     * @default 4
     */
    readonly charges_at_once?: number | undefined
  }
  /**
   * Templates of subscriptions by name: `{ amount: 19900, currency: 'UAH', every: 'month', trial_days:
   * 14, quotas: { api_calls: { limit: 10_000 } } }`. One is copied as a subscription is made: an edit changes no existing price.
   */
  readonly plans?: Option<typeof file.plans> | undefined
  readonly usage?: {
    /**
     * Days in which a key counts once; what comes again later counts again.
     * @default 35
     */
    readonly keep_keys_days?: number | undefined
  }
  readonly forward?: {
    /**
     * Endpoints by name: `{ shop: { url: 'http://app:8000/hooks', secret: 'whsec_...' } }`. Their origins
     * may be reached wherever they lead.
     * @default none
     */
    readonly endpoints?: Option<typeof file.forward.endpoints> | undefined
    /** URL of an endpoint called `default`. */
    readonly url?: string | undefined
    /** Its secret, `whsec_` and base64; several with commas between them, the newest first. */
    readonly secret?: string | undefined
    /**
     * Hosts, addresses and ranges (`10.0.0.0/8`) that endpoints may reach in production although they
     * are not public.
     * @default none
     */
    readonly allow?: Option<typeof file.forward.allow> | undefined
    /**
     * Days for which each request to an endpoint is kept.
     * @default 30
     */
    readonly keep_attempts_days?: number | undefined
  }
  readonly invoices?: {
    /**
     * Who sells, as it stands on every document: `{ name, address, tax_id, registration_number, email,
     * phone, bank_details, note }`; `address` and `bank_details` are lists of lines. Unset: none are
     * issued.
     */
    readonly seller?: Option<typeof file.invoices.seller> | undefined
    /**
     * Name of the series in which documents are numbered from 1 on: letters, digits, `-`, `_`, `.`, `/`,
     * and `{year}`, `{month}` of the issue. Documents of test money count in one of their own, with
     * `TEST-` before it.
     * @default INV-{year}
     */
    readonly series?: string | undefined
    /**
     * Days until a document is due; 0: at once.
     * @default 0
     */
    readonly due_days?: number | undefined
    /**
     * IANA name of the time zone in whose days a year of a series, and a month of an export, begins.
     * @default UTC
     */
    readonly time_zone?: string | undefined
  }
  /**
   * Credentials by gateway name and field, named like the variables without the prefix; the
   * variables win. With `driver`, of an account: see docs/3-gateways.md#several-accounts.
   */
  readonly gateways?: Option<typeof file.gateways> | undefined
  /** Gateways besides the built-in ones: see docs/9-adding-a-gateway.md. */
  readonly extra_gateways?: Option<typeof file.extraGateways> | undefined
  /** What each listener listens to and runs, by its name: see docs/4-listeners.md. */
  readonly listeners?: Option<typeof file.listeners> | undefined
  /**
   * Origins that a payer may be sent on to after the checkout (`return_url`), besides that of
   * `url`. In development every origin on this machine is allowed.
   */
  readonly return_origins?: Option<typeof file.returnOrigins> | undefined
  /**
   * Whether `/billing/api/docs` shows the management API: see docs/16-api.md#a-page-to-read-and-to-try.
   * @default true; false under the production rules
   */
  readonly api_docs?: boolean | undefined
  /**
   * How long a provider may take to answer an operation, in milliseconds.
   * @default 20000
   */
  readonly provider_timeout_ms?: number | undefined
  /**
   * How long the listeners in the transaction of one call may take together, in milliseconds; 25000
   * at most.
   * @default `20000`; embedded: `1000`
   */
  readonly listener_budget_ms?: number | undefined
  /**
   * A tracer of OpenTelemetry, such as `trace.getTracer('my-app')`: see
   * docs/5-operations.md#traces.
   * @default none: no spans
   */
  readonly tracer?: Option<typeof file.tracer> | undefined
  /**
   * Whether the production rules hold: see docs/configuration.md#production-rules. The variable
   * must be `production` for true; anything else is false.
   * @default false
   */
  readonly production?: boolean | undefined
  readonly http?: {
    /**
     * The most connections that the service holds: see docs/5-operations.md#too-many-connections.
     * @default 1000
     */
    readonly max_connections?: number | undefined
    /**
     * The most connections from one address (IPv6: one /64), once three quarters of all are taken.
     * @default 50
     */
    readonly connections_per_address?: number | undefined
    /**
     * How long a connection stays open between two requests. This must be longer than a proxy in
     * front keeps its own, mostly 60 seconds: otherwise the proxy sends into a connection that
     * closes.
     * @default 65
     */
    readonly keep_alive_seconds?: number | undefined
  }
}
