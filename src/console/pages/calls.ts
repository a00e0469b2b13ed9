import { html } from 'hono/html'
import { readCursor } from '../../database/page.ts'
import { type WebhookCall, callFilters } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import { callNoun } from '../../wire/call.ts'
import type { GatewayDescription } from '../../wire/gateway.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { callBadge } from '../parts/choices.ts'
import { chosen, filters, pageSize, pager, withQuery } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { nounFilters, nounQuery, nounTable } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import type { Cell } from '../parts/table.ts'
import { badge, idLink, nothing, shortId, time } from '../parts/values.ts'
import { outcomesInWords } from '../words/calls.ts'

/** Stored callbacks, newest first. */
export async function callsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.calls.list({
      limit: pageSize,
      ...given({ cursor: chosen(url, 'cursor') }),
      ...nounQuery(url, callFilters),
    }),
  )
  const isShort = nextCursor !== null && data.length < pageSize
  const isFirst = !url.searchParams.has('cursor')
  return {
    status,
    title: 'Calls',
    section: 'calls',
    ...(isFirst && { refreshSeconds: 5 }),
    body: html`${filters(url, nounFilters(visit, callFilters))} ${fault} ${replayForm(visit, data)}
      ${isFirst && followButtons}
      <div id="rows" data-live>${fault === false && rowsOf(visit, data, isShort)}</div>
      ${isShort && lookedBack(visit, nextCursor)}
      ${pager(url, nextCursor, isShort ? 'Look further' : 'Next')}`,
  }
}

/** Where scripts run: rows stay where they are until somebody wants the new ones. */
const followButtons = html`<p class="actions">
  <label class="check" hidden><input type="checkbox" id="follow" /> Follow</label>
  <button type="button" id="new-rows" hidden></button>
</p>`

/** The form that the boxes in the rows belong to. */
const marks = 'marked'

function replayForm({ console, visitor, url }: Visit, calls: readonly WebhookCall[]): Html | false {
  if (visitor.role !== 'operator' || !calls.some(hasEnded)) return false
  return html`<form id="${marks}" class="actions" action="${console.path}/calls/replay">
    <input type="hidden" name="back" value="${withQuery(url, { done: undefined })}" />
    <button>Replay the marked</button>
  </form>`
}

/** Others are on their way anyway. */
export function hasEnded({ state }: Pick<WebhookCall, 'state'>): boolean {
  return state === 'processed' || state === 'ignored' || state === 'failed'
}

function rowsOf(visit: Visit, calls: readonly WebhookCall[], isShort: boolean): Html {
  return nounTable(callNoun, calls, {
    visit,
    columns: ['id', 'state', 'gateway', 'outcome', 'paymentId', 'receivedAt', 'attempts'],
    ids: calls.map(({ id }) => id),
    empty: isShort ? 'None of those that were looked at fits.' : whyNoCalls(visit),
    cells: {
      id: (call) =>
        html`${visit.visitor.role === 'operator' && hasEnded(call) && markOf(call)}
        ${idLink(`${visit.console.path}/calls/${call.id}`, call.id)}`,
      state: ({ state, needsReview }) =>
        html`${callBadge(state)} ${needsReview && badge('needs a person', 'bad')}`,
      gateway: ({ gateway }) =>
        html`<a href="${withQuery(visit.url, { gateway, cursor: undefined, done: undefined })}"
          >${gateway}</a
        >`,
      outcome: outcomeOf,
    },
  })
}

function markOf({ id }: WebhookCall): Html {
  const label = `Mark the call ${shortId(id)}`
  return html`<input
    type="checkbox"
    id="mark-${id}"
    form="${marks}"
    name="call"
    value="${id}"
    aria-label="${label}"
  />`
}

/** What became of it; of one that goes on, why it has not. */
function outcomeOf({ outcome, exception }: WebhookCall): Cell {
  if (outcome !== null && outcome.length > 0) return shown(outcomesInWords(outcome))
  const [line = ''] = (exception ?? '').split('\n', 1)
  return line === '' ? nothing : shown(line)
}

function lookedBack({ console }: Visit, cursor: string | null): Html | false {
  const last = readCursor(cursor ?? undefined)
  return (
    last !== undefined &&
    html`<p>Looked back to ${time(last.at, console.now())}; there may be more before.</p>`
  )
}

const narrowing = ['gateway', 'state', 'review', 'payment', 'cursor']

/** Why there may be no callback. */
function whyNoCalls({ console, url }: Visit): Html {
  const { core, path } = console
  const { retentionDays } = core.inspect.settings()
  const all = Object.values(core.gateways())
  const named = all.find(({ name }) => name === url.searchParams.get('gateway'))
  const looked = named === undefined ? all : [named]
  const isNarrowed = narrowing.some((name) => (url.searchParams.get(name) ?? '') !== '')
  const reasons = [
    ...(isNarrowed ? [html`None fits what is chosen above.`] : []),
    ...setUpReasons(looked, path),
    html`None came in the last ${retentionDays} days: after that, they are deleted.`,
    html`What came was refused: see <a href="${path}/refused">Refused</a>.`,
  ]
  return html`There is no such call. Why that may be:
    <ul>
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
    </ul>`
}

function setUpReasons(gateways: readonly GatewayDescription[], path: string): readonly Html[] {
  const lacking = gateways.filter(({ configured }) => !configured)
  const toRegister = gateways.filter(
    (one) => one.configured && one.webhook_requires_dashboard_setup,
  )
  const links = (some: readonly GatewayDescription[]) =>
    some.map(({ name }, at) => {
      const comma = at === 0 ? '' : ', '
      return html`${comma}<a href="${path}/gateways/${name}">${name}</a>`
    })
  return [
    ...(lacking.length === 0 ? [] : [html`No secret is set for: ${links(lacking)}.`]),
    ...(toRegister.length === 0
      ? []
      : [html`The callback URL is not registered at the provider of: ${links(toRegister)}.`]),
  ]
}
