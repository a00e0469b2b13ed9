import type { Visit } from './context.ts'
import { refreshOf } from './page.ts'
import type { ShowSharedPage } from './routes.ts'

interface MadePage {
  readonly text: Promise<string | undefined>
  /** By the ticks; until it is made, there is no end. */
  until: number
}

/** Addresses of all who look; what is beyond is made anew each time. */
const mostPages = 200

/** What the page is now, for whoever has it open; undefined: there is no such page any more. */
export type Refresh = (visit: Visit, show: ShowSharedPage) => Promise<string | undefined>

/**
 * Makes refreshes of a page once for all who have it open: many viewers cost little more than one. A
 * refresh may show what was half the time between two of them ago. `ticks`: milliseconds of a clock
 * that never goes back.
 */
export function sharingRefreshes(ticks: () => number): Refresh {
  const made = new Map<string, MadePage>()
  const makeRoom = () => {
    for (const [key, { until }] of made) if (until <= ticks()) made.delete(key)
    return made.size < mostPages
  }
  const make = (visit: Visit, show: ShowSharedPage): MadePage => {
    const making = { until: Infinity }
    const textOf = async () => {
      let seconds = 0
      try {
        const page = await show(visit)
        seconds = page?.refreshSeconds ?? 0
        return page && (await refreshOf(page))
      } finally {
        making.until = ticks() + seconds * 500
      }
    }
    return Object.assign(making, { text: textOf() })
  }
  return (visit, show) => {
    const { pathname, search } = visit.url
    // What a viewer must not see, an operator's page has.
    const key = `${visit.visitor.role} ${pathname}${search}`
    const known = made.get(key)
    if (known !== undefined && known.until > ticks()) return known.text
    made.delete(key)
    const making = make(visit, show)
    if (makeRoom()) made.set(key, making)
    return making.text
  }
}
