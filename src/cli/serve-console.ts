import { orClose, type OpenService } from './open-service.ts'
import { readyMessage } from './ready-message.ts'
import { endOnSignals } from './service-process.ts'
import { startConsoleOperations } from './start-operations.ts'

/**
 * The process of several that has the console, on the port for operations: what pages cost, and what
 * listeners do to whom an operator's action dispatches, is nothing to those that take callbacks.
 */
export async function serveConsole(service: OpenService): Promise<void> {
  const { core, commandLog } = service
  const operations = await orClose(core, () => startConsoleOperations(service))
  endOnSignals({
    commandLog,
    isSupervised: true,
    stop: async () => {
      await operations.stop()
      await core.close()
    },
  })
  if (operations.consoleUrl !== undefined) {
    commandLog.log.info({ url: operations.consoleUrl }, 'the console is here')
  }
  process.send?.(readyMessage)
}
