import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { databaseUrlError } from '../database/database-url.ts'
import { QuittanceError } from '../kernel/errors.ts'
import type { BillingOptions, ConfigFileOptions, HttpOptions } from '../billing/options.ts'
import { configFileName, loadConfigFile } from './config-file.ts'
import { freePort } from './free-port.ts'

/** What the commands run with: the environment over quittance.config.ts over the defaults. */
export interface Configuration {
  readonly options: BillingOptions & { readonly url: string; readonly production: boolean }
  readonly host: string
  readonly port: number
  readonly http: HttpOptions
  /** For the management API; unset: off, or in development one made for the run. */
  readonly apiToken: string | undefined
}

interface Variable<T> {
  readonly schema: z.ZodType<T>
  /** The allowed form, for the error. */
  readonly allowed: string
  /** May carry a password or token: never shown. */
  readonly secret?: boolean
  /** What is wrong with a value, if that says more than the allowed form. */
  readonly explain?: (value: string) => QuittanceError | undefined
}

const text = z.string()
const wholeNumber = (smallest: number, largest: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine((number) => number >= smallest && number <= largest)
const origin: Variable<string> = {
  schema: text.refine(isOrigin).transform((url) => new URL(url).origin),
  allowed: 'an origin such as https://pay.example.com, without a path',
}
const origins: Variable<readonly string[]> = {
  schema: text.transform(separated).refine((all) => all.every(isOrigin)),
  allowed: 'origins such as https://shop.example.com, separated by commas',
}
const databaseUrl: Variable<string> = {
  schema: text.refine((url) => databaseUrlError(url) === undefined),
  allowed: 'the URL of a PostgreSQL server',
  secret: true,
  explain: databaseUrlError,
}

function variable<T>(schema: z.ZodType<T>, allowed: string, secret = false): Variable<T> {
  return { schema, allowed, secret }
}

/** Every variable that belongs to no gateway; gateways name their own in their descriptors. */
const variables = {
  NODE_ENV: variable(text, 'a text such as production'),
  APP_URL: origin,
  APP_NGROK_URL: origin,
  HOST: variable(text.regex(/^[^\s/]+$/), 'a host name or address'),
  PORT: variable(wholeNumber(0, 65_535), 'a whole number from 0 to 65535'),
  DATABASE_URL: databaseUrl,
  BILLING_DATA_DIR: variable(text, 'a folder'),
  BILLING_QUEUE_CONNECTION: variable(text, 'the name of a queue connection'),
  BILLING_QUEUE: variable(text, 'the name of a queue'),
  BILLING_WEBHOOK_PATH: variable(text, 'a path with the segment {gateway}'),
  BILLING_WEBHOOK_PRUNE_AFTER_DAYS: variable(
    wholeNumber(1, 36_500),
    'a whole number of days from 1 to 36500',
  ),
  BILLING_REVIEW_UNKNOWN_PAYMENTS: variable(
    z.enum(['on', 'off']).transform((state) => state === 'on'),
    'on or off',
  ),
  BILLING_HTTP_MAX_CONNECTIONS: variable(
    wholeNumber(10, 1_000_000),
    'a whole number of connections from 10 to 1000000',
  ),
  BILLING_HTTP_CONNECTIONS_PER_ADDRESS: variable(
    wholeNumber(1, 1_000_000),
    'a whole number of connections from 1 to 1000000',
  ),
  BILLING_HTTP_KEEP_ALIVE_SECONDS: variable(
    wholeNumber(1, 3_600),
    'a whole number of seconds from 1 to 3600',
  ),
  BILLING_RETURN_ORIGINS: origins,
  BILLING_ENCRYPTION_KEY: variable(text, 'keys of 32 bytes in base64', true),
  BILLING_API_TOKEN: variable(text.regex(/^[\x21-\x7e]+$/), 'a text without spaces', true),
} as const satisfies Record<string, Variable<unknown>>

type Values = { [K in keyof typeof variables]?: z.infer<(typeof variables)[K]['schema']> }

/** Names of the variables above, for the tests that compare them with the documentation. */
export const variableNames = Object.keys(variables)

const defaultPort = 3000
const envFileName = '.env'

/** What was read, also where parts of it are wrong: those count as not set. */
export interface InspectedConfiguration {
  readonly configuration: Configuration
  readonly faults: readonly unknown[]
  /** The variables that `.env` names, if there is one. */
  readonly envFile: readonly string[] | undefined
  /** The name of the configuration file, if there is one. */
  readonly configFile: string | undefined
  /** The variables exactly as set. */
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** Reads `.env`, the environment and quittance.config.ts of the folder. Error: `setting_invalid`. */
export async function readConfiguration(folder: string = process.cwd()): Promise<Configuration> {
  const { configuration, faults } = await inspectConfiguration(folder)
  if (faults.length > 0) throw faults[0]
  return configuration
}

/** The same for a diagnosis: tells every fault and goes on. */
export async function inspectConfiguration(
  folder: string = process.cwd(),
): Promise<InspectedConfiguration> {
  const faults: unknown[] = []
  const envFile = loadEnvFile(join(folder, envFileName), faults)
  const environment = withoutBlanks(process.env)
  const values = parseVariables(environment, faults)
  const config = await loadConfigFile(folder).catch((error: unknown) => {
    faults.push(error)
    return {}
  })
  const configuration = await configurationOf({ values, config, environment })
  const configFile = configFileName(folder)
  return { configuration, faults, envFile, configFile, variables: { ...process.env } }
}

function loadEnvFile(path: string, faults: unknown[]): readonly string[] | undefined {
  if (!existsSync(path)) return undefined
  try {
    process.loadEnvFile(path)
    return Object.keys(parseEnv(readFileSync(path, 'utf8')))
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    faults.push(new QuittanceError('setting_invalid', `${envFileName} cannot be read: ${reason}`))
    return undefined
  }
}

async function configurationOf({
  values,
  config,
  environment,
}: {
  readonly values: Values
  readonly config: ConfigFileOptions
  readonly environment: Readonly<Record<string, string>>
}): Promise<Configuration> {
  const production =
    values.NODE_ENV === undefined ? config.production : values.NODE_ENV === 'production'
  const host = values.HOST ?? (production === true ? '0.0.0.0' : '127.0.0.1')
  const wantedPort = values.PORT ?? defaultPort
  const port = wantedPort === 0 ? await freePort(host) : wantedPort
  return {
    host,
    port,
    http: {
      ...config.http,
      ...given('max_connections', values.BILLING_HTTP_MAX_CONNECTIONS),
      ...given('connections_per_address', values.BILLING_HTTP_CONNECTIONS_PER_ADDRESS),
      ...given('keep_alive_seconds', values.BILLING_HTTP_KEEP_ALIVE_SECONDS),
    },
    apiToken: values.BILLING_API_TOKEN,
    options: {
      ...config,
      url: values.APP_NGROK_URL ?? values.APP_URL ?? config.url ?? `http://localhost:${port}`,
      production: production ?? false,
      environment,
      ...merged(values, config),
    },
  }
}

function merged(values: Values, config: BillingOptions): BillingOptions {
  return {
    database: {
      ...withoutBlankUrl(config.database),
      ...given('url', values.DATABASE_URL),
      ...given('dataDir', values.BILLING_DATA_DIR),
    },
    webhook: {
      ...config.webhook,
      ...given('path', values.BILLING_WEBHOOK_PATH),
      ...given('prune_after_days', values.BILLING_WEBHOOK_PRUNE_AFTER_DAYS),
    },
    billing: {
      ...config.billing,
      ...given('encryption_key', values.BILLING_ENCRYPTION_KEY),
      queue: {
        ...config.billing?.queue,
        ...given('connection', values.BILLING_QUEUE_CONNECTION),
        ...given('queue', values.BILLING_QUEUE),
      },
    },
    review: {
      ...config.review,
      ...given('unknown_payments', values.BILLING_REVIEW_UNKNOWN_PAYMENTS),
    },
    ...given('return_origins', values.BILLING_RETURN_ORIGINS),
  }
}

/** What a file takes from an environment variable may also be blank. */
function withoutBlankUrl(database: BillingOptions['database'] = {}): typeof database {
  const { url, ...rest } = database
  return url?.trim() === '' ? rest : database
}

function given<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: T })
}

function parseVariables(environment: Readonly<Record<string, string>>, faults: unknown[]): Values {
  const values: Record<string, unknown> = {}
  const all: Readonly<Record<string, Variable<unknown>>> = variables
  for (const [name, { schema, allowed, secret, explain }] of Object.entries(all)) {
    const value = environment[name]
    if (value === undefined) continue
    const parsed = schema.safeParse(value)
    if (parsed.success) values[name] = parsed.data
    else {
      const shown = secret === true ? undefined : value
      faults.push(explain?.(value) ?? invalidVariable(name, allowed, shown))
    }
  }
  return values
}

function invalidVariable(name: string, allowed: string, shown: string | undefined): QuittanceError {
  const got = shown === undefined ? '' : `, got ${JSON.stringify(shown)}`
  return new QuittanceError('setting_invalid', `${name} must be ${allowed}${got}`)
}

/** A line `NAME=` in a file of settings means: not set. */
function withoutBlanks(
  environment: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      const trimmed = value?.trim() ?? ''
      return trimmed === '' ? [] : [[name, trimmed]]
    }),
  )
}

function separated(list: string): readonly string[] {
  return list.split(',').map((one) => one.trim())
}

function isOrigin(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.pathname === '/' && url.search === '' && url.hash === '' && url.username === ''
}
