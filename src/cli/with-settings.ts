import { readSettings, type Settings } from '../billing/settings.ts'
import { readConfiguration } from './env.ts'

/** For commands that need no database: they load nothing of it, and a log only for warnings. */
export async function withSettings<T>(work: (settings: Settings) => T): Promise<T> {
  const { options } = await readConfiguration()
  const settings = readSettings(options)
  if (settings.warnings.length > 0) await warn(settings.warnings)
  return work(settings)
}

async function warn(warnings: readonly string[]): Promise<void> {
  const { openLog } = await import('./log.ts')
  const { log, flush } = await openLog('warn')
  for (const warning of warnings) log.warn(warning)
  await flush()
}
