import { coreOf } from '../billing/create-core.ts'
import { createRuntime, type Runtime } from '../billing/runtime.ts'
import type { BillingCore } from '../billing/types.ts'
import { credentialWarnings } from '../gateways/credentials.ts'
import { besideService, type BesideService } from './beside-service.ts'
import { readConfiguration } from './env.ts'
import type { Log, LogOptions } from '../kernel/log.ts'
import { openLog } from './log.ts'

/** What a command may need besides the operations. */
export interface CommandContext extends BesideService {
  readonly runtime: Runtime
  /** Logs what is unwise about the credentials of the gateway that the command is about. */
  warnAbout(gateway: string): void
  readonly log: Log
}

interface OpenOptions {
  /** False: nothing of the database is needed. */
  readonly start?: boolean
  /** As for the log. */
  readonly takes?: LogOptions['takes']
}

/** Runs `work` with everything open, and closes it whatever happens. */
export async function withCore<T>(
  work: (core: BillingCore, context: CommandContext) => Promise<T>,
  { start = true, takes }: OpenOptions = {},
): Promise<T> {
  const beside = besideService(await readConfiguration())
  const { log, flush } = await openLog('warn', takes)
  const { options } = beside.configuration
  // A running service has the embedded database open: then this goes through its socket.
  const database = { ...options.database, attach: true }
  const runtime = createRuntime({ ...options, log, database })
  const core = coreOf(runtime)
  try {
    if (start) await core.start()
    const warnAbout = (name: string) => {
      const found = runtime.settings.gateways.find(name)
      if (found === undefined) return
      for (const text of credentialWarnings(found.gateway, found.credentials)) log.warn(text)
    }
    return await work(core, { ...beside, runtime, warnAbout, log })
  } finally {
    await core.close()
    await flush()
  }
}
