import { coreOf } from '../billing/create-core.ts'
import { createRuntime, type Runtime, type Stage } from '../billing/runtime.ts'
import type { BillingCore } from '../billing/types.ts'
import { readConfiguration, type Configuration } from './env.ts'
import { openLog, type CommandLog } from './log.ts'
import { endWithError } from './service-process.ts'
import { startWatchdog } from './watchdog.ts'

export interface OpenService {
  readonly core: BillingCore
  readonly runtime: Runtime
  readonly configuration: Configuration
  readonly commandLog: CommandLog
}

/** For the commands that keep running: opens everything and watches the main thread. */
export async function openService(): Promise<OpenService> {
  const configuration = await readConfiguration()
  const commandLog = await openLog('info')
  const onLost = (error: Error) => void endWithError(error, commandLog)
  const service = await openConfigured({ configuration, commandLog, onLost })
  startWatchdog()
  return service
}

interface ConfiguredService extends Pick<OpenService, 'configuration' | 'commandLog'> {
  /** The embedded database has ended. */
  readonly onLost: (error: Error) => void
  readonly stage?: Stage
}

/** Opens the database and everything on it. */
export async function openConfigured({
  configuration,
  commandLog,
  onLost,
  stage,
}: ConfiguredService): Promise<OpenService> {
  const given = { ...configuration.options, log: commandLog.log, onLost }
  const runtime = createRuntime(given, stage)
  // It knows what is secret.
  const { log } = runtime.settings
  for (const warning of runtime.settings.warnings) log.warn(warning)
  const core = coreOf(runtime)
  await orClose(core, async () => {
    // An embedded database migrates itself. In production, migrating is a separate step.
    const { database, production } = configuration.options
    if (database?.url !== undefined && !production) await core.migrate()
    await core.start()
  })
  return { core, runtime, configuration, commandLog: { ...commandLog, log } }
}

/** A step of the start; after a failure, what is open would keep the process alive. */
export async function orClose<T>(
  opened: Pick<BillingCore, 'close'>,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step()
  } catch (error) {
    await opened.close()
    throw error
  }
}
