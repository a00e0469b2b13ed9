import { databaseUrlError } from '../database/database-url.ts'
import { builtin } from '../gateways/builtin.ts'
import { credentialWarnings, readCredentials } from '../gateways/credentials.ts'
import type { Credentials } from '../gateways/credential-fields.ts'
import { createRegistry, type Registry } from '../gateways/registry.ts'
import { days, seconds, type Duration } from '../kernel/duration.ts'
import { readCipher, type Cipher } from '../kernel/encryption.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { silentLog, withSafeErrors, type Log } from '../kernel/log.ts'
import { parseSecrets, scrubber, type Secret } from '../kernel/secret.ts'
import type { BillingOptions } from './options.ts'
import { returnCheck } from './return-origins.ts'

const defaultPath = '/billing/webhooks/{gateway}'
/** The specification's other spelling, which answers too while no path is configured. */
export const otherPath = '/webhook/billing/{gateway}'
const queueConnections = ['database', 'sync'] as const

/** The options, checked and complete. */
export interface Settings {
  readonly origin: string
  readonly webhookPaths: readonly [string, ...string[]]
  readonly retentionDays: number
  readonly queueConnection: (typeof queueConnections)[number]
  readonly queue: string
  readonly gateways: Registry
  /** Encrypts what must not be readable in the database; undefined where no key is set. */
  readonly cipher: Cipher | undefined
  /** Blanks out the gateways' secrets and the encryption keys in a text. */
  readonly scrub: (text: string) => string
  readonly production: boolean
  /** Money of payments that stay unknown is marked for review. */
  readonly reviewsUnknownPayments: boolean
  /** Whether a payer may be sent on to this URL after the checkout. */
  readonly isAllowedReturn: (url: string) => boolean
  /** How long a provider may take to answer an operation. */
  readonly answerWithin: Duration
  /** What the listeners of one call may take together; undefined: what suits the database. */
  readonly listenerBudget: Duration | undefined
  readonly log: Log
  readonly database: NonNullable<BillingOptions['database']>
}

/** Checks everything that can be wrong before anything is opened. */
export function readSettings(options: BillingOptions): Settings {
  const given = options.log ?? silentLog
  const production = options.production ?? options.environment?.['NODE_ENV'] === 'production'
  const { gateways, secrets } = readGateways(options, { production, log: given })
  const encryptionKey = options.billing?.encryption_key
  const scrub = scrubber([...secrets, ...parseSecrets(encryptionKey)])
  const origin = readOrigin(options.url ?? 'http://localhost:3000')
  return {
    origin,
    webhookPaths: readPaths(options.webhook?.path),
    retentionDays: readRetention(options.webhook?.prune_after_days ?? 30, gateways),
    queueConnection: readQueueConnection(options.billing?.queue?.connection ?? 'database'),
    queue: options.billing?.queue?.queue ?? 'default',
    gateways,
    cipher: readCipher(encryptionKey),
    scrub,
    production,
    reviewsUnknownPayments: options.review?.unknown_payments ?? true,
    isAllowedReturn: returnCheck(options.return_origins ?? [], { origin, production }),
    answerWithin: options.providerTimeoutMs ?? seconds(20),
    listenerBudget: readListenerBudget(options.listenerBudgetMs),
    log: withSafeErrors(given, scrub),
    database: readDatabase(options.database ?? {}, production),
  }
}

function readGateways(
  options: BillingOptions,
  { production, log }: { readonly production: boolean; readonly log: Log },
): { readonly gateways: Registry; readonly secrets: readonly Secret[] } {
  const list = [...builtin, ...(options.extraGateways ?? [])]
  const unknown = Object.keys(options.gateways ?? {}).find(
    (name) => !list.some((gateway) => gateway.name === name),
  )
  if (unknown !== undefined) {
    throw new QuittanceError('gateway_unknown', `gateways.${unknown}: there is no such gateway`)
  }
  const credentials: Record<string, Credentials> = {}
  for (const gateway of list) {
    const config = options.gateways?.[gateway.name]
    const read = readCredentials(gateway, options.environment ?? {}, {
      production,
      ...(config === undefined ? {} : { config }),
    })
    credentials[gateway.name] = read
    for (const warning of credentialWarnings(gateway, read)) log.warn(warning)
  }
  const secrets = Object.values(credentials).flatMap((one) => Object.values(one.secrets).flat())
  return { gateways: createRegistry(list, credentials), secrets }
}

function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const web = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === undefined || !web || url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new QuittanceError(
      'setting_invalid',
      `the public URL must be an origin such as https://pay.example.com, got ${JSON.stringify(text)}`,
      { fix: 'Correct APP_URL (or APP_NGROK_URL): scheme and host, no path.' },
    )
  }
  return url.origin
}

function readPaths(configured: string | undefined): readonly [string, ...string[]] {
  if (configured === undefined) return [defaultPath, otherPath]
  const path = `/${configured.replace(/^\/+/, '')}`
  if (path.split('/').filter((segment) => segment === '{gateway}').length !== 1) {
    throw new QuittanceError(
      'webhook_path_without_gateway',
      `webhook.path must contain the segment {gateway} once, got ${JSON.stringify(configured)}`,
    )
  }
  return [path]
}

function readRetention(retentionDays: number, gateways: Registry): number {
  if (!Number.isFinite(retentionDays) || retentionDays <= 0 || retentionDays > 36_500) {
    throw new QuittanceError(
      'setting_invalid',
      `webhook.prune_after_days must be a number of days, got ${retentionDays}`,
    )
  }
  const longest = gateways.longestRetryWindow()
  if (days(retentionDays) > longest) return retentionDays
  throw new QuittanceError(
    'retention_too_short',
    `webhook.prune_after_days is ${retentionDays}, but a gateway redelivers for ` +
      `${longest / days(1)} days`,
  )
}

/**
 * What waits for longer is cut off by the server (30 s idle in a transaction), or loses its lease:
 * nobody's fault, so that the listener would run again and again.
 */
const longestListenerBudget = seconds(25)

function readListenerBudget(budget: Duration | undefined): Duration | undefined {
  if (budget === undefined || (budget > 0 && budget <= longestListenerBudget)) return budget
  throw new QuittanceError(
    'setting_invalid',
    `listenerBudgetMs must be between 1 and ${longestListenerBudget}, got ${budget}`,
    { fix: 'Register what takes longer with { queued: true }.' },
  )
}

function readQueueConnection(name: string): Settings['queueConnection'] {
  const known = queueConnections.find((one) => one === name)
  if (known !== undefined) return known
  throw new QuittanceError(
    'queue_connection_unknown',
    `there is no queue connection ${JSON.stringify(name)}; there are ${queueConnections.join(', ')}`,
  )
}

function readDatabase(
  { url: given = '', ...database }: NonNullable<BillingOptions['database']>,
  production: boolean,
): NonNullable<BillingOptions['database']> {
  const url = given.trim()
  if (url !== '') {
    const error = databaseUrlError(url)
    if (error !== undefined) throw error
    return { ...database, url }
  }
  if (production && database.allowEmbeddedInProduction !== true) {
    throw new QuittanceError(
      'embedded_in_production',
      'the embedded database is refused under NODE_ENV=production',
    )
  }
  return database
}
