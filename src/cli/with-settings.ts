import { readSettings, type Settings } from '../billing/settings.ts'
import { besideService } from './beside-service.ts'
import { readConfiguration } from './env.ts'

/** For commands that need no database: they load nothing of it. */
export async function withSettings<T>(work: (settings: Settings) => T | Promise<T>): Promise<T> {
  const { options } = besideService(await readConfiguration()).configuration
  return work(readSettings(options))
}
