import { html } from 'hono/html'
import type { Endpoint } from '../../events/endpoint.ts'
import type { Html } from '../../http/pages/layout.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { pageSize } from '../parts/filters.ts'
import { endpointBadge } from '../parts/badges.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { count } from '../../kernel/figures.ts'
import { ago, nothing, time } from '../parts/values.ts'
import { disabledWords, sendResultText } from '../words/endpoints.ts'

/** Where events are sent to, and how far each endpoint is. */
export async function endpointsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const all = await console.core.endpoints.list()
  const from = Math.max(0, Number.parseInt(url.searchParams.get('from') ?? '0', 10) || 0)
  const page = all.slice(from, from + pageSize)
  const failures = new Map<string, Html>()
  for (const one of page) failures.set(one.id, await lastFailure(visit, one))
  return {
    title: 'Endpoints',
    section: 'endpoints',
    beside: html`<span class="actions">
      ${actionLink(visit, `${console.path}/endpoints/_new`, 'Add an endpoint')}
    </span>`,
    body: html`${rowsOf(visit, page, failures)} ${furtherOf(url, { from, of: all.length })}`,
  }
}

function rowsOf(visit: Visit, endpoints: readonly Endpoint[], failures: Map<string, Html>): Html {
  const now = visit.console.now()
  return table({
    caption: 'Endpoints, by name',
    columns: [
      'Endpoint',
      'State',
      'URL',
      { title: 'Behind by', isNumber: true },
      'Oldest waiting',
      'Last failure',
    ],
    rows: endpoints.map((one) => [
      html`<a href="${visit.console.path}/endpoints/${one.name}">${one.name}</a>`,
      endpointBadge(one),
      urlOf(visit, one),
      count(one.behind),
      one.oldestAt === null ? nothing : ago(one.oldestAt, now),
      failures.get(one.id) ?? nothing,
    ]),
    empty: html`Events are sent nowhere. Add an endpoint, and its app gets a signed request for each
    event; or read the feed, or register listeners.`,
  })
}

/** Where it fails now, why; else nothing: what has been overcome is on its page. */
async function lastFailure({ console }: Visit, endpoint: Endpoint): Promise<Html> {
  const { id, failures, failingSince, enabled, disabledReason } = endpoint
  if (!enabled && disabledReason !== null) return html`${disabledWords[disabledReason]}`
  if (failures === 0) return nothing
  const [last] = (await console.core.endpoints.attempts(id, { limit: 1 })).data
  const why = last === undefined || last.result === 'delivered' ? '' : sendResultText(last.result)
  return html`${count(failures)} in a row since ${time(failingSince, console.now())}. ${why}`
}

/** For a viewer without its path, which may be as good as a password. */
export function urlOf({ visitor }: Visit, { url }: Endpoint): Html {
  if (visitor.role === 'operator') return html`${shown(url)}`
  return html`${shown(URL.parse(url)?.origin ?? '')}
    <span class="soft">(the rest is for operators)</span>`
}

function furtherOf(url: URL, { from, of }: { readonly from: number; readonly of: number }): Html {
  if (from + pageSize >= of) return html``
  return html`<nav class="actions" aria-label="Further rows">
    <a class="button" rel="next" href="${url.pathname}?from=${from + pageSize}">Next</a>
  </nav>`
}
