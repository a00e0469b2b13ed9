import { readSettings, type Settings } from '../billing/settings.ts'
import { readConfiguration } from './env.ts'
import { openLog } from './log.ts'

/** For commands that need no database: they load nothing of it. */
export async function withSettings<T>(work: (settings: Settings) => T): Promise<T> {
  const { options } = await readConfiguration()
  const { log, flush } = await openLog('warn')
  try {
    return work(readSettings({ ...options, log }))
  } finally {
    await flush()
  }
}
