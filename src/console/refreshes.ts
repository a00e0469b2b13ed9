import type { Visit } from './context.ts'
import type { ConsolePage } from './page.ts'
import type { ShowPage } from './routes.ts'

interface MadePage {
  readonly page: ReturnType<ShowPage>
  /** By the ticks; until it is made, there is no end. */
  until: number
}

/** Addresses of all who look; what is beyond is made anew each time. */
const mostPages = 200

/**
 * Pages that refresh themselves, made once for all who have one open: many viewers cost little more than
 * one. Whoever opens a page, or comes back to it from an action, sees it as it is now; a refresh may show
 * what it was half the time between two refreshes ago. `ticks`: milliseconds of a clock that never goes
 * back.
 */
export function sharingRefreshes(ticks: () => number): (visit: Visit, show: ShowPage) => Shown {
  const made = new Map<string, MadePage>()
  const makeRoom = () => {
    for (const [key, { until }] of made) if (until <= ticks()) made.delete(key)
    return made.size < mostPages
  }
  return (visit, show) => {
    if (!visit.isRefresh) return show(visit)
    const { pathname, search } = visit.url
    // What a viewer must not see, an operator's page has.
    const key = `${visit.visitor.role} ${pathname}${search}`
    const known = made.get(key)
    if (known !== undefined && known.until > ticks()) return known.page
    made.delete(key)
    if (!makeRoom()) return show(visit)
    const making: MadePage = { page: show(visit), until: Infinity }
    made.set(key, making)
    making.page.then(
      (page) => (making.until = ticks() + sharedFor(page)),
      () => (making.until = 0),
    )
    return making.page
  }
}

type Shown = ReturnType<ShowPage>

function sharedFor(page: ConsolePage | Response | undefined): number {
  const seconds = page === undefined || page instanceof Response ? 0 : (page.refreshSeconds ?? 0)
  return seconds * 500
}
