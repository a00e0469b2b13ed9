import { findService } from '../database/embedded/owner-file.ts'
import type { Configuration } from './env.ts'

/** The configuration of a command, which may run beside a service or an app. */
export interface BesideService {
  readonly configuration: Configuration
  /** Where the service on the embedded database takes requests, if one runs; an app does not say. */
  readonly serviceUrl: string | undefined
}

/**
 * A service or an app may have got its port or APP_URL from elsewhere than this command; on an
 * embedded database there is only one, so what it says of itself counts.
 */
export function besideService(configuration: Configuration): BesideService {
  const { options, isUrlSet } = configuration
  const { url, memory, dataDir } = options.database
  const service = url === undefined && !memory ? findService(dataDir) : undefined
  if (service === undefined || isUrlSet) return { configuration, serviceUrl: service?.url }
  const besideIt = { ...configuration, options: { ...options, url: service.origin } }
  return { configuration: besideIt, serviceUrl: service.url }
}
