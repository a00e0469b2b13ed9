import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type Values, completed } from '../billing/check-values.ts'
import type { Complete } from '../billing/setting.ts'
import { variableSettings } from '../billing/settings-schema.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { configFileName, loadConfigFile } from './config-file.ts'
import { readEnvFile } from './env-file.ts'
import { readVariables } from './read-variables.ts'

type CompleteSettings = Complete<typeof variableSettings>
type OfTheService =
  | 'host'
  | 'port'
  | 'http'
  | 'apiToken'
  | 'readToken'
  | 'metricsToken'
  | 'operations'
  | 'console'
/** Read where the gateways are listed, from `environment`. */
type ReadLater = 'accounts'

/** What the commands run with: the environment over quittance.config.ts over the defaults. */
export interface Configuration extends Pick<CompleteSettings, OfTheService> {
  readonly host: string
  /** Token of the management API that all processes of this run share, in development. */
  readonly runToken: string | undefined
  readonly isRunByNpm: boolean
  /** Whether the public URL is set, or made of the port. */
  readonly isUrlSet: boolean
  /** Which process of several this is; undefined: it is alone. */
  readonly process: 'console' | 'first' | 'further' | undefined
  readonly options: Omit<CompleteSettings, OfTheService | ReadLater> & {
    readonly url: string
    readonly production: boolean
    /** For the variables of the gateways, and the list of accounts. */
    readonly environment: Readonly<Record<string, string>>
  }
}

const envFileName = '.env'

/** What was read, even if parts of it are wrong: those count as not set. */
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

/** The same for a diagnosis: reports every fault and continues. */
export async function inspectConfiguration(
  folder: string = process.cwd(),
): Promise<InspectedConfiguration> {
  const unread: unknown[] = []
  const envFile = loadEnvFile(join(folder, envFileName), unread)
  const environment = withoutBlanks(process.env)
  const variables = readVariables(environment)
  const file = await loadConfigFile(folder, variables.values)
  return {
    configuration: await configurationOf([variables.values, file.values], environment),
    faults: [...unread, ...variables.faults, ...file.faults],
    envFile,
    configFile: configFileName(folder),
    variables: { ...process.env },
  }
}

/** What is set already wins. */
function loadEnvFile(path: string, faults: unknown[]): readonly string[] | undefined {
  if (!existsSync(path)) return undefined
  try {
    const { values, fault } = readEnvFile(readFileSync(path))
    for (const [name, value] of values) process.env[name] ??= value
    if (fault !== undefined) faults.push(envFileFault(`:${fault.line}: ${fault.reason}`))
    return [...values.keys()]
  } catch (error) {
    const isText = !(error instanceof TypeError)
    const reason = error instanceof Error ? error.message : String(error)
    faults.push(envFileFault(isText ? ` cannot be read: ${reason}` : ' must be UTF-8 text'))
    return undefined
  }
}

function envFileFault(what: string): QuittanceError {
  const fix = 'Correct the file.'
  return new QuittanceError('setting_invalid', `${envFileName}${what}`, { fix })
}

async function configurationOf(
  layers: readonly Values[],
  environment: Readonly<Record<string, string>>,
): Promise<Configuration> {
  const {
    apiToken,
    readToken,
    metricsToken,
    operations,
    console: consoleSettings,
    http,
    accounts: _,
    ...settings
  } = completed(variableSettings, layers)
  const { production = false, host = production ? '0.0.0.0' : '127.0.0.1', ...rest } = settings
  const { port: wanted, url, ...options } = rest
  const port = wanted === 0 ? await freePort(host) : wanted
  const origin = url ?? `http://localhost:${port}`
  return {
    apiToken,
    readToken,
    metricsToken,
    operations,
    console: consoleSettings,
    http,
    host,
    port,
    isRunByNpm: environment['npm_lifecycle_event'] !== undefined,
    isUrlSet: url !== undefined,
    // Set by our supervisor, and by nobody else.
    runToken: environment['QUITTANCE_RUN_TOKEN'],
    process: processOf(environment['QUITTANCE_PROCESS']),
    options: { ...options, url: origin, production, environment },
  }
}

/** A token of the management API for one run. */
export function newRunToken(): string {
  return randomBytes(24).toString('base64url')
}

function processOf(name: string | undefined): Configuration['process'] {
  return name === 'console' || name === 'first' || name === 'further' ? name : undefined
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

/** A free port: generated URLs need its number before the service listens. */
function freePort(host: string): Promise<number> {
  return new Promise((found, failed) => {
    const server = createServer()
    server.once('error', failed)
    server.listen(0, host, () => {
      const address = server.address()
      server.close(() => found(typeof address === 'object' ? (address?.port ?? 0) : 0))
    })
  })
}
