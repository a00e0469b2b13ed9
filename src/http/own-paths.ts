import { healthPaths } from './health.ts'
import { metricsPath } from './metrics.ts'

/** Where the console of the service is. */
export const consolePath = '/billing/console'

/** Paths of our own, which a template of the webhook route as short as `/{gateway}` would cover. */
export const ownPaths: ReadonlySet<string> = new Set([...healthPaths, metricsPath, consolePath])
