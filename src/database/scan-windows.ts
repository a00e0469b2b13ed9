/** Rows that one statement looks at, and one list: most of a page is found soon, or is rare. */
const largestWindow = 2_000
const leastRows = 200
const mostRows = 20_000
const longestMs = 80

/** Some rows in the order of a list: which of them fit, and where the next ones begin. */
export interface Window<Place> {
  readonly hits: readonly Place[]
  /** The last one that was looked at; undefined: there is none behind it. */
  readonly last: Place | undefined
}

/** What a window is: so many rows, behind a place. */
export interface WindowOf<Place> {
  readonly after: Place | undefined
  readonly rows: number
}

export interface Scanned<Place> {
  readonly hits: readonly Place[]
  /** Behind which the next page begins; undefined: nothing is left. */
  readonly next: Place | undefined
}

/**
 * Looks for a page of rows of which there may be few among very many others: at so many rows, or for so
 * long. A page may be short, or empty, although there is a next one.
 */
export async function scanWindows<Place>(
  limit: number,
  from: Place | undefined,
  read: (window: WindowOf<Place>) => Promise<Window<Place>>,
): Promise<Scanned<Place>> {
  const begun = performance.now()
  const hits: Place[] = []
  let after = from
  let scanned = 0
  let rows = Math.max(2 * limit, leastRows)
  while (hits.length <= limit && scanned < mostRows && performance.now() - begun < longestMs) {
    const window = await read({ after, rows })
    hits.push(...window.hits)
    after = window.last
    if (after === undefined) break
    scanned += rows
    rows = Math.min(rows * 2, largestWindow)
  }
  return { hits: hits.slice(0, limit), next: hits.length > limit ? hits[limit - 1] : after }
}
