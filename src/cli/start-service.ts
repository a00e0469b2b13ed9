import type { Worker } from '../worker/worker.ts'
import { orClose, type OpenService } from './open-service.ts'
import { startHttp, type ServiceAddresses } from './start-http.ts'
import { startOperations } from './start-operations.ts'

export interface StartedService {
  readonly http: ServiceAddresses
  readonly worker: Worker
  /** Finishes what is under way and closes everything, in order. */
  stop(): Promise<void>
}

/** What `serve` runs: a worker, the port for operations if there is one, and the HTTP server. */
export async function startService(
  service: OpenService,
  { upkeepOnly }: { readonly upkeepOnly: boolean },
): Promise<StartedService> {
  const { core } = service
  const worker = await orClose(core, () => core.work({ upkeepOnly }))
  // Before callbacks are taken: where its port is in use, nothing has begun.
  const operations = await orClose(core, () => startOperations(service))
  const close = async () => {
    await operations?.stop()
    await core.close()
  }
  const { stop: stopHttp, ...http } = await orClose({ close }, () => startHttp(service))
  return {
    http: { ...http, consoleUrl: http.consoleUrl ?? operations?.consoleUrl },
    worker,
    stop: async () => {
      await stopHttp()
      await worker.stop()
      await close()
    },
  }
}
