import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import type { FailedCounts } from '../../database/failed-rows.ts'
import { failedKinds, type FailedGroup, type FailedKind } from '../../inspect/failed-groups.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { chosenOf, withQuery } from '../parts/filters.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { count } from '../../kernel/figures.ts'
import { idLink, nothing, time } from '../parts/values.ts'

const kindNames: Readonly<Record<FailedKind, string>> = {
  call: 'Calls',
  delivery: 'Deliveries to listeners',
  deferred_event: 'Deferred events',
  forward: 'Events to endpoints',
}

/** What failed for good, by why: nobody tries it again until somebody says so. */
export async function failedPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const kind = chosenOf(url, 'kind', failedKinds)
  const report = await console.core.inspect.failed(kind === undefined ? {} : { kind })
  const now = console.now()
  return {
    title: 'Failed',
    section: 'failed',
    beside: html`<span class="actions">
      ${actionLink(visit, `${console.path}/runs/new`, 'Replay all that match')}
      <a class="button" href="${console.path}/runs">Runs</a></span
    >`,
    body: html`<nav class="tabs" aria-label="Which kind">
        <a href="${url.pathname}" ${kind === undefined && html`aria-current="true"`}>All</a>
        ${failedKinds.map(
          (one) =>
            html`<a
              href="${withQuery(url, { kind: one, done: undefined })}"
              ${one === kind && html`aria-current="true"`}
              >${kindNames[one]} ${count(report.counts[countNames[one]])}</a
            >`,
        )}
      </nav>
      ${report.truncated && html`<p class="banner">There is more: the newest 10,000 are grouped here.</p>`}
      ${table({
        caption: 'What failed for good, by why',
        columns: [
          'What',
          { title: 'How many', isNumber: true },
          'Newest',
          'At',
          'Why',
          'Some of them',
          'Again',
        ],
        rows: report.groups.map((group) => [
          whatOf(group),
          count(group.count),
          time(group.newestAt, now),
          whereOf(group),
          html`<code>${whyOf(group)}</code>`,
          someOf(console.path, group),
          again(visit, group),
        ]),
        empty: 'No dead letters: nothing has failed for good.',
      })}`,
  }
}

const countNames = {
  call: 'calls',
  delivery: 'deliveries',
  deferred_event: 'deferredEvents',
  forward: 'forwards',
} as const satisfies Readonly<Record<FailedKind, keyof FailedCounts>>

function whatOf(group: FailedGroup): string {
  if (group.kind === 'call') return `call of ${group.gateway}`
  if (group.kind === 'deferred_event') return `deferred ${group.eventType}`
  return group.kind === 'delivery' ? 'delivery' : 'event to an endpoint'
}

function whereOf(group: FailedGroup): Html | string {
  if (group.kind === 'forward') return shown(group.endpoint ?? 'an endpoint that is gone')
  return group.listener === null ? nothing : shown(group.listener)
}

function whyOf(group: FailedGroup): string {
  if (group.kind !== 'forward') return shown(group.error)
  return [group.result ?? 'not kept any more', group.status ?? ''].join(' ').trim()
}

/** What goes to endpoints is sent again from the page of its endpoint. */
function again(visit: Visit, group: FailedGroup): Html {
  const { path } = visit.console
  if (group.kind === 'forward') {
    const { endpoint } = group
    return endpoint === null
      ? nothing
      : actionLink(visit, `${path}/endpoints/${encodeURIComponent(endpoint)}/replay`, 'Send again')
  }
  const query = new URLSearchParams({ kind: group.kind })
  if (group.kind === 'call') query.set('gateway', group.gateway)
  if (group.listener !== null) query.set('listener', group.listener)
  // As a run compares it: a control character counts as a space.
  const error = group.error.replaceAll(/\p{Cc}/gu, ' ')
  // An address is kept and sent on: what is masked on a page is masked there, and would match nothing.
  if (shown(error) !== error) return nothing
  if (error !== '') query.set('exception', error)
  return actionLink(visit, `${path}/runs/new?${query.toString()}`, 'Replay')
}

/** A call, an event: deliveries and deferred events have no page of their own. */
function someOf(path: string, group: FailedGroup): Html {
  if (group.kind === 'delivery' || group.kind === 'deferred_event') return nothing
  const section = group.kind === 'call' ? 'calls' : 'events'
  return html`${group.ids.slice(0, 3).map((id) => html`${idLink(`${path}/${section}/${id}`, id)} `)}`
}
