import { createCore } from '../billing/create-core.ts'
import type { BillingCore } from '../billing/types.ts'
import { readConfiguration, type Configuration } from './env.ts'
import { openLog } from './log.ts'

/** Runs `work` with everything open, and closes it whatever happens. */
export async function withCore<T>(
  work: (core: BillingCore, configuration: Configuration) => Promise<T>,
  { start = true }: { readonly start?: boolean } = {},
): Promise<T> {
  const configuration = await readConfiguration()
  const { log, flush } = await openLog('warn')
  const { options } = configuration
  // A running service has the embedded database open: then this goes through its socket.
  const core = createCore({ ...options, log, database: { ...options.database, attach: true } })
  try {
    if (start) await core.start()
    return await work(core, configuration)
  } finally {
    await core.close()
    await flush()
  }
}
