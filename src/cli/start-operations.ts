import type { ClusterRegistry, RegistryContentType } from '@prometheus-io/client'
import { Hono } from 'hono'
import type { BillingCore, Metrics } from '../billing/types.ts'
import { health } from '../http/health.ts'
import { metricsPath, metricsRoute } from '../http/metrics.ts'
import { consolePath } from '../http/own-paths.ts'
import { frontPage } from '../http/pages/front-page.ts'
import { namingRequests } from '../http/request-id.ts'
import { notFound, respond } from '../http/respond.ts'
import { listen } from '../http/serve.ts'
import type { Log } from '../kernel/log.ts'
import type { Configuration } from './env.ts'
import { askForMetrics } from './cluster-metrics.ts'
import { consoleUrl, openConsole, type OpenConsole } from './open-console.ts'
import type { OpenService } from './open-service.ts'

export interface Operations {
  /** Where the console is; in development it signs in, once. Undefined: it is not on this port. */
  readonly consoleUrl?: string | undefined
  stop(): Promise<void>
}

/** The client has it; its types leave it out. */
type WorkerRegistry = ClusterRegistry<RegistryContentType> & { shutdown(): Promise<void> }

/** A look that is under way ends well before. */
const graceMs = 1_000

/**
 * Listens on the port for operations, if there is one. A process that is one of several leaves that
 * to their supervisor, and lets it have the metrics.
 */
export async function startOperations(service: OpenService): Promise<Operations | undefined> {
  const { core, runtime, configuration, commandLog } = service
  if (configuration.operations.port === undefined) return undefined
  // Not any cluster's worker: a process manager may have its own.
  if (configuration.process !== undefined) return shareMetrics(service)
  const app = operationsApp(() => core.metrics(), commandLog.log)
  app.route('/', health(core, { isPrivate: true, databaseKey: runtime.databaseKey }))
  // By tokens that are set: one of this run is known on the other port alone.
  const console = openConsole(service, configuration.apiToken)
  mountPages(app, core, console)
  return listenForOperations({ app, console }, configuration, commandLog.log)
}

/** Lets the supervisor of several processes have the metrics of this one. */
async function shareMetrics({ runtime, commandLog }: OpenService): Promise<Operations> {
  const { ClusterRegistry } = await import('@prometheus-io/client')
  ClusterRegistry.setRegistries(await runtime.metrics.get())
  // It answers the supervisor from now on, and hands over what it has counted when it stops.
  const registry = new ClusterRegistry() as WorkerRegistry
  return {
    stop: () =>
      registry.shutdown().catch((err: unknown) => {
        commandLog.log.warn({ err }, 'the supervisor did not take the last counts')
      }),
  }
}

/**
 * For the one of several processes that has the console: it is alone on the port for operations, and
 * answers with the metrics of all.
 */
export async function startConsoleOperations(service: OpenService): Promise<Operations> {
  const { configuration, commandLog } = service
  const shared = await shareMetrics(service)
  const app = operationsApp(askForMetrics, commandLog.log)
  const console = openConsole(service, configuration.apiToken)
  mountPages(app, service.core, console)
  const operations = await listenForOperations({ app, console }, configuration, commandLog.log)
  return {
    ...operations,
    stop: async () => {
      await operations.stop()
      await shared.stop()
    },
  }
}

/** For the supervisor of several processes of which none has the console: their metrics alone. */
export function startMetrics(
  read: () => Promise<Metrics>,
  { configuration, commandLog }: Pick<OpenService, 'configuration' | 'commandLog'>,
): Promise<Operations> {
  return listenForOperations(
    { app: operationsApp(read, commandLog.log) },
    configuration,
    commandLog.log,
  )
}

function mountPages(app: Hono, core: BillingCore, console: OpenConsole | undefined): void {
  const links = console === undefined ? [] : [['Console', consolePath] as const]
  app.route('/', frontPage(core, [...links, ['Metrics', metricsPath]]))
  if (console !== undefined) app.route('/', console.app)
}

function operationsApp(read: () => Promise<Metrics>, log: Log): Hono {
  const app = new Hono()
  app.use(namingRequests(log))
  app.route('/', metricsRoute(read))
  app.notFound(() => respond(notFound))
  return app
}

async function listenForOperations(
  { app, console }: { readonly app: Hono; readonly console?: OpenConsole | undefined },
  { operations: { host, port = 0 } }: Configuration,
  log: Log,
): Promise<Operations> {
  const settings = { port: 'BILLING_OPERATIONS_PORT', host: 'BILLING_OPERATIONS_HOST' }
  const server = await listen(app, { host, port, log, settings })
  log.info({ url: server.url }, 'operators are answered here')
  return {
    consoleUrl: console && consoleUrl(server.url, console),
    stop: () => server.close(graceMs),
  }
}
