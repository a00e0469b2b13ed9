import type { MiddlewareHandler } from 'hono'
import { builtin } from '../gateways/builtin.ts'
import { credentialWarnings, readCredentials } from '../gateways/credentials.ts'
import type { Credentials } from '../gateways/credential-fields.ts'
import { halfSet, halfSetText } from '../gateways/lacking-credentials.ts'
import { createRegistry, refuseDescriptorFaults, type Registry } from '../gateways/registry.ts'
import type { Clock } from '../kernel/clock.ts'
import { days, type Duration } from '../kernel/duration.ts'
import type { InvoicePolicy } from '../invoices/invoice.ts'
import { readCipher, type Cipher } from '../kernel/encryption.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { Log } from '../kernel/log.ts'
import type { Plans } from '../money/resolve-plan.ts'
import { readForward, type ForwardSettings } from './read-forward.ts'
import type { SubscriptionPolicy } from '../subscriptions/change.ts'
import { scrubber } from '../kernel/secret.ts'
import type { Tracer } from '../kernel/spans.ts'
import { tokenInText } from '../operators/tokens.ts'
import type { Authenticate } from './authenticate.ts'
import { refuseNamelessLogo, type Brand } from './brand.ts'
import { camelCased, checkValues, completed } from './check-values.ts'
import { listGateways } from './list-gateways.ts'
import type { BillingOptions } from './options.ts'
import { gatewaySecrets, settingSecrets } from './setting-secrets.ts'
import type { Complete } from './setting.ts'
import { httpSettings } from './http-settings.ts'
import { processSettings } from './process-settings.ts'
import { optionSettings, sharedSettings } from './settings-schema.ts'
import { shownSettings, type ShownSetting } from './shown-settings.ts'
import { unreadText, unreadVariables } from './unread-variables.ts'

type CompleteOptions = Complete<typeof optionSettings>

const defaultPath = '/billing/webhooks/{gateway}'
/** The specification's other spelling, which also answers while no path is configured. */
const otherPath = '/webhook/billing/{gateway}'

/** The options, checked and complete. */
export interface Settings {
  readonly origin: string
  readonly webhookPaths: readonly [string, ...string[]]
  readonly webhookMiddleware: readonly MiddlewareHandler[]
  readonly maxBodyBytes: number
  readonly retentionDays: number
  readonly queueConnection: 'database' | 'sync'
  readonly queue: string
  readonly gateways: Registry
  /** Encrypts what must not be readable in the database; undefined if no key is set. */
  readonly cipher: Cipher | undefined
  /** Blanks out in a text every secret that is set. */
  readonly scrub: (text: string) => string
  readonly production: boolean
  readonly brand: Brand
  /** Money of payments that stay unknown is marked for review. */
  readonly reviewsUnknownPayments: boolean
  /** Of subscriptions that we charge. */
  readonly subscriptions: SubscriptionSettings
  readonly plans: Plans
  /** Days that keys of usage are kept. */
  readonly keepKeysDays: number
  /** How documents are issued. */
  readonly invoices: InvoicePolicy
  /** Whether a payer may be sent on to this URL after the checkout. */
  readonly isAllowedReturn: (url: string) => boolean
  /** The names of metadata that payments are found by. */
  readonly searchedMetadata: readonly string[]
  /** How long a provider may take to answer an operation. */
  readonly answerWithin: Duration
  /** How long the listeners of one call may take together; undefined: what suits the database. */
  readonly listenerBudget: Duration | undefined
  readonly database: CompleteOptions['database']
  /** What goes out. */
  readonly forward: ForwardSettings
  /** Whether a page shows the management API. */
  readonly apiDocs: boolean
  /** The app's own guard of the management API. */
  readonly authenticate: Authenticate | undefined
  /** Called when the embedded database has ended unexpectedly. */
  readonly onLost: CompleteOptions['onLost']
  /** What makes spans. */
  readonly tracer: Tracer | undefined
  /** What is not as it should be, but can be lived with. */
  readonly warnings: readonly string[]
  /** What is set, for those who run the service; of secrets only that they are. */
  readonly shown: readonly ShownSetting[]
}

/** What holds for every subscription, and what one has that does not say otherwise. */
export interface SubscriptionSettings extends SubscriptionPolicy {
  readonly graceAccess: boolean
  readonly timeZone: string
  /** How many saved cards a process charges at the same time. */
  readonly chargesAtOnce: number
}

/** Those of a service. */
export interface ServiceSettings extends Settings {
  readonly log: Log
  readonly clock: Clock
}

/** Some readers of files take a byte order mark for a part of the first name, which nobody then reads. */
function refuseMarkedName(environment: Readonly<Record<string, unknown>>): void {
  const marked = Object.keys(environment).find((name) => name.startsWith('\ufeff'))
  if (marked === undefined) return
  throw new QuittanceError(
    'setting_invalid',
    `the environment has ${marked.slice(1)} behind a byte order mark, so that it does not count`,
    { fix: 'Save the file that sets it as UTF-8 without a byte order mark.' },
  )
}

/** The local address of an app: its port is the environment's `PORT`. */
function localOrigin({ environment }: Pick<CompleteOptions, 'environment'>): string {
  const { PORT: port = '' } = environment
  const isPort = /^[1-9]\d*$/.test(port) && Number(port) <= 65_535
  return `http://localhost:${isPort ? port : processSettings.port.default}`
}

/** Checks everything that can be wrong before anything is opened. */
export function readSettings(given: BillingOptions): Settings {
  const { values, renamed } = complete(given)
  const { url = localOrigin(values), database, webhook, billing, ...options } = values
  const production = options.production ?? options.environment['NODE_ENV'] === 'production'
  refuseMarkedName(options.environment)
  const { gateways, secrets, warnings } = readGateways(options, production)
  refuseEmbedded(database, production)
  refuseShortRetention(webhook.pruneAfterDays, gateways)
  refuseNamelessLogo(options.brand)
  const forward = readForward(options.forward, production)
  const ofEndpoints = [...forward.declared.values()].flatMap((one) => one.secrets)
  const ofSettings = settingSecrets(values, options.environment)
  const scrub = scrubber([...secrets, ...ofEndpoints, ...ofSettings], [tokenInText])
  return {
    origin: url,
    webhookPaths: webhook.path === undefined ? [defaultPath, otherPath] : [webhook.path],
    webhookMiddleware: webhook.middleware,
    maxBodyBytes: webhook.maxBodyBytes,
    retentionDays: webhook.pruneAfterDays,
    queueConnection: billing.queue.connection,
    queue: billing.queue.queue,
    gateways,
    cipher: readCipher(billing.encryptionKey),
    scrub,
    production,
    brand: options.brand,
    forward,
    reviewsUnknownPayments: options.review.unknownPayments,
    subscriptions: options.subscriptions,
    plans: options.plans,
    keepKeysDays: options.usage.keepKeysDays,
    invoices: { ...options.invoices, seller: options.invoices.seller ?? null },
    isAllowedReturn: returnCheck([url, ...options.returnOrigins], { production }),
    searchedMetadata: options.search.metadata,
    answerWithin: options.providerTimeoutMs,
    listenerBudget: options.listenerBudgetMs,
    database,
    apiDocs: options.apiDocs ?? !production,
    authenticate: options.api.authenticate,
    onLost: options.onLost,
    tracer: options.tracer,
    warnings: [...renamed, ...warnings],
    shown: shownSettings(sharedSettings, values, scrub),
  }
}

const place = {
  label: 'option ',
  spell: (name: string) => name,
  fix: 'Correct what createBilling is called with; docs/configuration.md lists the options.',
}
/**
 * An app may pass the contents of quittance.config.ts, in which `http` is for the service alone.
 */
const acceptable = { ...optionSettings, http: httpSettings }

/** Error: that of the first option that is unknown or wrong. */
function complete(given: BillingOptions) {
  const renamed: string[] = []
  const onRenamed = (from: string, to: string) => renamed.push(`the option ${from} is called ${to}`)
  const { values, faults } = checkValues(
    camelCased(given, acceptable, { onRenamed }),
    acceptable,
    place,
  )
  const [fault] = faults
  if (fault !== undefined) throw fault
  return { values: completed(optionSettings, [values]), renamed }
}

function readGateways(
  options: Pick<CompleteOptions, 'gateways' | 'extraGateways' | 'environment'>,
  production: boolean,
) {
  options.extraGateways.forEach(refuseDescriptorFaults)
  const { listed, faults, variables } = listGateways(
    [...builtin, ...options.extraGateways],
    options,
  )
  const [fault] = faults
  if (fault !== undefined) throw fault
  const credentials: Record<string, Credentials> = {}
  const warnings = unreadVariables(options.environment, variables).map(unreadText)
  for (const { gateway, config } of listed) {
    const read = readCredentials(gateway, options.environment, { production, config })
    credentials[gateway.name] = read
    warnings.push(...credentialWarnings(gateway, read))
    const half = halfSet({ gateway, credentials: read })
    if (half !== undefined) warnings.push(halfSetText({ gateway, credentials: read }, half))
  }
  const secrets = listed.flatMap((one) => gatewaySecrets(one, options.environment))
  const list = listed.map(({ gateway }) => gateway)
  return { gateways: createRegistry(list, credentials), secrets, warnings }
}

function refuseShortRetention(retentionDays: number, gateways: Registry): void {
  const longest = gateways.longestRetryWindow()
  if (days(retentionDays) > longest) return
  throw new QuittanceError(
    'retention_too_short',
    `stored calls would be pruned after day ${retentionDays}, but a gateway redelivers for ` +
      `${longest / days(1)} days`,
  )
}

function refuseEmbedded(
  { url, allowEmbeddedInProduction }: CompleteOptions['database'],
  production: boolean,
): void {
  if (url !== undefined || !production || allowEmbeddedInProduction) return
  throw new QuittanceError(
    'embedded_in_production',
    'the embedded database is refused under NODE_ENV=production',
  )
}

const ownMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a payer may be sent on to a URL: our pages must only lead to the merchant's sites. */
export function returnCheck(
  origins: readonly string[],
  { production }: { readonly production: boolean },
): (url: string) => boolean {
  const allowed = new Set(origins)
  return (text) => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') return false
    return allowed.has(url.origin) || (!production && ownMachine.has(url.hostname))
  }
}
