import { isPagePath } from './pages/browser-pages.ts'
import { ownPaths } from './own-paths.ts'
import { gatewayInPath } from './webhook-path.ts'

/** What is mounted, by its paths. */
export interface MountedPaths {
  readonly webhookPaths: readonly string[]
  /** The pages of gateways. */
  readonly pages?: readonly { readonly path: string }[]
  /** Where the management API is, if it is mounted. */
  readonly apiPath?: string | undefined
}

/**
 * Finds the path of a callback, a payers' page or the management API, without the one slash that a
 * host app, such as Next.js, puts at its end. Undefined for every other path.
 */
export function pathIn(
  mounted: MountedPaths,
  checkoutPath: string,
): (path: string) => string | undefined {
  const { webhookPaths, pages = [], apiPath } = mounted
  const gatewayOf = gatewayInPath(webhookPaths)
  const isOurs = (path: string) => {
    if (gatewayOf(path) !== undefined || path.startsWith(`${checkoutPath}/`)) return true
    if (apiPath !== undefined && path.startsWith(`${apiPath}/`)) return true
    return isPagePath(path, pages)
  }
  return (path) => {
    const bare = path.slice(0, -1)
    // Folders are compared by their beginning: they hold both.
    const isSlashed = path.endsWith('/') && gatewayOf(path) === undefined && !ownPaths.has(bare)
    if (isSlashed && isOurs(bare)) return bare
    return isOurs(path) ? path : undefined
  }
}
