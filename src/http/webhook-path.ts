const segment = '{gateway}'

/**
 * Finds the gateway's name in a decoded path, by templates such as `/billing/webhooks/{gateway}`.
 * One spelling only: the text around the segment as configured, and no slash more.
 */
export function gatewayInPath(templates: readonly string[]): (path: string) => string | undefined {
  const shapes = templates.map((template) => {
    const at = template.indexOf(segment)
    const before = template.slice(0, at)
    return {
      before: before.startsWith('/') ? before : `/${before}`,
      after: template.slice(at + segment.length),
    }
  })
  return (path) => {
    for (const { before, after } of shapes) {
      const end = path.length - after.length
      if (end <= before.length || !path.startsWith(before) || !path.endsWith(after)) continue
      const gateway = path.slice(before.length, end)
      if (!gateway.includes('/')) return gateway
    }
    return undefined
  }
}

/**
 * The same for a path that is almost one: in capitals, with slashes too many or too few, or with a
 * blank about it.
 */
export function gatewayNearPath(
  templates: readonly string[],
): (path: string) => string | undefined {
  const likened = (path: string) => `/${path.trim().toLowerCase()}/`.replaceAll(/\/+/g, '/')
  const find = gatewayInPath(templates.map(likened))
  return (path) => find(likened(path))
}

/** The query as sent, with its question mark; empty without one. */
export function queryOf(url: string): string {
  const fragment = url.indexOf('#')
  const sent = fragment === -1 ? url : url.slice(0, fragment)
  const start = sent.indexOf('?')
  return start === -1 ? '' : sent.slice(start)
}

/**
 * Whether the path contains an invalid escape (`%zz`) or one that is not UTF-8 text (`%ff`). Hono
 * decodes what it can and leaves the rest, so only a path that still has a `%` is checked.
 */
export function isBadlyEscaped(decodedPath: string, url: string): boolean {
  if (!decodedPath.includes('%')) return false
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    decodeURIComponent(path)
    return false
  } catch {
    return true
  }
}
