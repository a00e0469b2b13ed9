import { wholeNumber } from './setting-types.ts'
import { setting } from './setting.ts'

/** For the service's own server; an app that mounts the routes has its own. */
export const httpSettings = {
  /**
   * The most connections that the service holds: see docs/5-operations.md#too-many-connections.
   * @default 1000
   */
  maxConnections: setting(wholeNumber('of connections ', 10, 1_000_000), { default: 1000 }),
  /**
   * The most connections from one address (IPv6: one /64), once three quarters of all are taken.
   * @default 50
   */
  connectionsPerAddress: setting(wholeNumber('of connections ', 1, 1_000_000), { default: 50 }),
  /**
   * How long a connection stays open between two requests. This must be longer than a proxy in
   * front keeps its own, mostly 60 seconds: otherwise the proxy sends into a connection that
   * closes.
   * @default 65
   */
  keepAliveSeconds: setting(wholeNumber('of seconds ', 1, 3600), { default: 65 }),
}
