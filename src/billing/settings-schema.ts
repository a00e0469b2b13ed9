import type { MiddlewareHandler } from 'hono'
import { defaultSchema } from '../database/schema.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { seconds } from '../kernel/duration.ts'
import type { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { Tracer } from '../kernel/spans.ts'
import type { Authenticate } from './authenticate.ts'
import {
  credentials,
  databaseUrl,
  encryptionKeys,
  fn,
  list,
  listeners,
  metadataNames,
  object,
  origins,
  publicOrigin,
  queueConnection,
  schemaName,
  text,
  unlessBlank,
  webhookPath,
  wholeNumber,
  yesOrNo,
} from './setting-types.ts'
import { setting } from './setting.ts'
import { httpSettings } from './http-settings.ts'
import { brand } from './brand-settings.ts'
import { forward } from './forward-settings.ts'
import { invoices } from './invoice-settings.ts'
import { processSettings } from './process-settings.ts'
import { plans, subscriptions, usage } from './subscription-settings.ts'

// Every setting is written once, here, and those of some groups in files of their own: its name as an
// option, its type, its default, and its meaning in a doc comment. "npm run tables" makes the table in
// docs/configuration.md of them; keys of quittance.config.ts are the names in snake_case.

const none: readonly string[] = []

const database = {
  /**
   * `postgres://user:password@host:5432/name`, one host: see docs/5-operations.md#failover. Unset:
   * the embedded database.
   */
  url: setting(databaseUrl, {
    variables: ['DATABASE_URL'],
    secret: true,
    fix:
      'Name one server. If there are several, use a name that follows the primary: DNS, ' +
      'a virtual address or a proxy.',
  }),
  /**
   * The same database without the pooler that `url` goes through, for what a pooler cannot carry:
   * notifications and migrations. See docs/5-operations.md#poolers.
   */
  directUrl: setting(databaseUrl, { variables: ['DATABASE_DIRECT_URL'], secret: true }),
  /**
   * Folder of the embedded database.
   * @default .quittance
   */
  dataDir: setting(unlessBlank, { default: '.quittance', variables: ['BILLING_DATA_DIR'] }),
  /**
   * An embedded database that is gone after `close()`: for tests.
   * @default false
   */
  memory: setting(yesOrNo, { default: false, variables: none }),
  /**
   * Accept the embedded database under `NODE_ENV=production`: a power cut can damage it.
   * @default false
   */
  allowEmbeddedInProduction: setting(yesOrNo, { default: false, variables: none }),
  /**
   * The PostgreSQL schema of all tables: one for each installation that shares a database. Another
   * name finds other tables; it moves none.
   * @default billing
   */
  schema: setting(schemaName, { default: defaultSchema, variables: ['BILLING_SCHEMA'] }),
  /**
   * Connections at most, on PostgreSQL; at least 2.
   * @default 10
   */
  poolSize: setting(wholeNumber('of connections ', 2), { default: 10, variables: none }),
}

const webhook = {
  /**
   * Route path with the segment `{gateway}`. Replaces both default paths.
   * @default `/billing/webhooks/{gateway}` and `/webhook/billing/{gateway}`
   */
  path: setting(webhookPath, { code: 'webhook_path_without_gateway' }),
  /**
   * Hono middleware for the webhook route alone, such as `throttle`: see
   * docs/3-gateways.md#limiting-what-one-sender-may-send.
   */
  middleware: setting(list(fn<MiddlewareHandler>(), 'must be a list of functions'), {
    default: [],
    variables: none,
  }),
  /**
   * Days that stored calls are kept; longer than any gateway redelivers.
   * @default 30
   */
  pruneAfterDays: setting(wholeNumber('of days ', 1, 36_500), { default: 30 }),
  /**
   * Largest body of a callback, in bytes. Most gateways take 256 KiB at most.
   * @default 1048576
   */
  maxBodyBytes: setting(wholeNumber('of bytes '), { default: 1024 * 1024, variables: none }),
}

const billing = {
  queue: {
    /**
     * `database`: workers process the stored calls. `sync`:
     * docs/5-operations.md#within-the-request.
     * @default database
     */
    connection: setting(queueConnection.nullable(), {
      default: 'database',
      code: 'queue_connection_unknown',
    }),
    /**
     * The queue name for new calls, for `work --queue`.
     * @default default
     */
    queue: setting(text.nullable(), { default: 'default', variables: ['BILLING_QUEUE'] }),
  },
  /**
   * Keys of 32 bytes in base64; the first one encrypts: see
   * docs/configuration.md#the-encryption-key. Callbacks with card tokens, and the tokens of saved
   * cards, are kept only with a key.
   */
  encryptionKey: setting(encryptionKeys, {
    secret: true,
    fix: 'Make one with: openssl rand -base64 32; separate several by commas.',
  }),
}

const review = {
  /**
   * Whether money of a payment that is still unknown after a day needs a review: see
   * docs/5-operations.md#calls-that-need-a-person. Turn it off if other systems use the same
   * account with UUIDs.
   * @default true
   */
  unknownPayments: setting(yesOrNo, { default: true }),
}

const search = {
  /**
   * Names of `metadata` by whose texts and numbers `find` finds payments, such as `invoice_no`; 10 at
   * most. After a change, upkeep comes to the payments that are there.
   * @default none
   */
  metadata: setting(metadataNames, { default: [] }),
}

/** The server ends what is idle for 30 s, at no attempt: the listener would run again and again. */
const longestListenerBudget = seconds(25)

/** What the service and an app have in common. */
export const sharedSettings = {
  /**
   * Public origin of this service, e.g. `https://pay.example.com`: callback URLs begin with it. The
   * origin of a tunnel, in `APP_NGROK_URL`, wins.
   * @default `http://localhost:$PORT`
   */
  url: setting(publicOrigin, { variables: ['APP_NGROK_URL', 'APP_URL'] }),
  database,
  webhook,
  billing,
  brand,
  review,
  search,
  subscriptions,
  plans,
  usage,
  forward,
  invoices,
  /**
   * Credentials by gateway name and field, named like the variables without the prefix; the
   * variables win. With `driver`, of an account: see docs/3-gateways.md#several-accounts.
   */
  gateways: setting(credentials, { default: {}, variables: none, secret: true }),
  /** Gateways besides the built-in ones: see docs/9-adding-a-gateway.md. */
  extraGateways: setting(list(object<Gateway>('must be gateways'), 'must be a list of gateways'), {
    default: [],
    variables: none,
  }),
  /** What each listener listens to and runs, by its name: see docs/4-listeners.md. */
  listeners: setting(listeners, { default: {}, variables: none }),
  /**
   * Origins that a payer may be sent on to after the checkout (`return_url`), besides that of
   * `url`. In development every origin on this machine is allowed.
   */
  returnOrigins: setting(origins, {
    default: [],
    fix: 'Give scheme and host of each; a variable separates several by commas.',
  }),
  /**
   * Whether `/billing/api/docs` shows the management API: see docs/16-api.md#a-page-to-read-and-to-try.
   * @default true; false under the production rules
   */
  apiDocs: setting(yesOrNo),
  /**
   * How long a provider may take to answer an operation, in milliseconds.
   * @default 20000
   */
  providerTimeoutMs: setting(wholeNumber('of milliseconds '), { default: 20_000, variables: none }),
  /**
   * How long the listeners in the transaction of one call may take together, in milliseconds; 25000
   * at most.
   * @default `20000`; embedded: `1000`
   */
  listenerBudgetMs: setting(wholeNumber('of milliseconds ', 1, longestListenerBudget), {
    variables: none,
    fix: 'Register what takes longer with { queued: true }.',
  }),
  /**
   * A tracer of OpenTelemetry, such as `trace.getTracer('my-app')`: see
   * docs/5-operations.md#traces.
   * @default none: no spans
   */
  tracer: setting(object<Tracer>('must be a tracer of OpenTelemetry', 'startSpan'), {
    variables: none,
  }),
  /**
   * Whether the production rules hold: see docs/configuration.md#production-rules. The variable
   * must be `production` for true; anything else is false.
   * @default false
   */
  production: setting(yesOrNo, {
    variables: ['NODE_ENV'],
    read: (mode) => mode === 'production',
  }),
}

/** What quittance.config.ts may hold. */
export const fileSettings = { ...sharedSettings, http: httpSettings }

/** What `createBilling` takes. */
export const optionSettings = {
  ...sharedSettings,
  database: {
    ...database,
    /**
     * Use the running embedded database of `dataDir` if there is one; otherwise open it here.
     * @default false
     */
    attach: setting(yesOrNo, { default: false }),
  },
  /**
   * Where the gateways' variables, `BILLING_GATEWAYS`, `NODE_ENV` and `PORT` are looked up: pass
   * `process.env`.
   */
  environment: setting(
    object<Readonly<Record<string, string | undefined>>>(
      'must be an object of texts such as the environment',
    ),
    { default: {} },
  ),
  /**
   * A pino logger.
   * @default warnings and errors on standard error, as JSON lines
   */
  log: setting(object<Log>('must be a logger such as pino makes', 'child')),
  api: {
    /**
     * Your guard of the management API, which an app has only behind one: see
     * docs/10-library.md#management-api.
     */
    authenticate: setting(fn<Authenticate>()),
  },
  /** Called when the embedded database has ended unexpectedly: this process cannot go on. */
  onLost: setting(fn<(error: QuittanceError) => void>()),
}

/** What the commands take from the environment. */
export const variableSettings = {
  ...fileSettings,
  /**
   * Accounts, each with the gateway that it is of: `stripe-eu:stripe,liqpay-books:liqpay`. See
   * docs/3-gateways.md#several-accounts.
   */
  accounts: setting(text, { variables: ['BILLING_GATEWAYS'] }),
  ...processSettings,
}
