import type { Readiness } from '../billing/types.ts'
import { noteService } from '../database/embedded/owner-file.ts'
import { createApp } from '../http/app.ts'
import { documentPath } from '../http/api/api-document.ts'
import { apiPath } from '../http/api/api-path.ts'
import { docsAddress, isReaderInstalled } from '../http/api/docs-page.ts'
import { consolePath, ownPaths } from '../http/own-paths.ts'
import { frontPage, type FrontLinks } from '../http/pages/front-page.ts'
import { plainCallbacks } from '../http/plain-callbacks.ts'
import { listen } from '../http/serve.ts'
import { seconds } from '../kernel/duration.ts'
import { secret, type Secret } from '../kernel/secret.ts'
import { limitsOf } from './cluster-limits.ts'
import { newRunToken, type Configuration } from './env.ts'
import { consoleUrl, openConsole } from './open-console.ts'
import type { OpenService } from './open-service.ts'

/** How long requests under way may take to finish when the process is asked to stop. */
const requestGraceMs = 5_000

const stoppingReadiness: Readiness = {
  ready: false,
  problems: ['this process is stopping'],
  warnings: [],
  pendingCalls: 0,
  oldestPendingSeconds: 0,
}

/** Where a service answers. */
export interface ServiceAddresses {
  /** The origin that it answers at, on this machine. */
  readonly url: string
  /**
   * The token of the management API as a shell line may contain it; undefined: only operators have
   * one. Only a token made for this run is shown in the clear: what we print ends up in logs.
   */
  readonly shownToken: string | undefined
  /** Where the console is; in development it signs in, once. Undefined: it is not on this port. */
  readonly consoleUrl: string | undefined
}

export interface HttpService extends ServiceAddresses {
  /** No longer ready: accepts nothing new, finishes what is under way. */
  stop(): Promise<void>
}

export async function startHttp(service: OpenService): Promise<HttpService> {
  const { core, runtime, configuration, commandLog } = service
  const { options, host, port, http, readToken, runToken = newRunToken() } = configuration
  const { log } = commandLog
  const closing = new AbortController()
  // In development the management API works at once, with a token for this run.
  const apiToken = configuration.apiToken ?? (options.production ? undefined : [secret(runToken)])
  const readiness = () =>
    closing.signal.aborted ? Promise.resolve(stoppingReadiness) : core.readiness()
  // Operators who have a port of their own find it there.
  const onThisPort = configuration.operations.port === undefined
  const console = onThisPort ? openConsole(service, apiToken) : undefined
  const apiDocs = options.apiDocs ?? !options.production
  const links: FrontLinks = [
    ...(console === undefined ? [] : [['Console', consolePath] as const]),
    ['API', apiDocs && isReaderInstalled() ? docsAddress : apiPath + documentPath],
    ['Health', '/readyz'],
  ]
  const webhook = {
    maxBodyBytes: options.webhook.maxBodyBytes,
    webhookMiddleware: options.webhook.middleware,
    log,
  }
  const app = createApp(
    { ...core, readiness },
    {
      ...webhook,
      apiToken,
      readToken,
      operatorTokens: true,
      limits: limitsOf(configuration),
      metrics: metricsAccess(configuration),
      apiDocs,
      closing: closing.signal,
      databaseKey: runtime.databaseKey,
      subApps: [frontPage(core, links), ...(console === undefined ? [] : [console.app])],
    },
  )
  const server = await listen(app, {
    host,
    port,
    log,
    plain: plainCallbacks(core, { ...webhook, ownPaths }),
    maxConnections: http.maxConnections,
    connectionsPerAddress: http.connectionsPerAddress,
    keepAlive: seconds(http.keepAliveSeconds),
  })
  noteWhere(configuration, { url: server.url, origin: core.origin })
  return {
    url: server.url,
    shownToken: shownToken(configuration, apiToken),
    consoleUrl: console && consoleUrl(server.url, console),
    stop: () => {
      closing.abort()
      return server.close(requestGraceMs)
    },
  }
}

/** Of several that are set, the first. */
function shownToken(
  { apiToken: set }: Configuration,
  used: readonly Secret[] | undefined,
): string | undefined {
  if (set === undefined) return used?.[0]?.reveal()
  return set.length === 1 ? '$BILLING_API_TOKEN' : '${BILLING_API_TOKEN%%,*}'
}

/** On the port for operations they need no token, and are nowhere else. */
function metricsAccess({ metricsToken, operations, options }: Configuration) {
  if (operations.port !== undefined) return undefined
  if (metricsToken !== undefined) return metricsToken
  return options.production ? undefined : 'open'
}

/** For the commands: they find the embedded database by its folder, and the service that runs it. */
function noteWhere({ options }: Configuration, service: { url: string; origin: string }): void {
  const { url, memory, dataDir } = options.database
  if (url === undefined && !memory) noteService(dataDir, service)
}
