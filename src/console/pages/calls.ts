import { html } from 'hono/html'
import { readCursor } from '../../database/page.ts'
import { callStates, type WebhookCall } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import { readUuid } from '../../kernel/ids.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { callBadge, gatewayChoice } from '../parts/choices.ts'
import {
  chosen,
  chosenOf,
  filters,
  pager,
  withQuery,
  pageSize,
  type Filter,
} from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { shown } from '../parts/shown.ts'
import { table, type Cell } from '../parts/table.ts'
import { badge, idLink, nothing, shortId, time } from '../parts/values.ts'
import { outcomesInWords } from '../words/calls.ts'
import { whyNoCalls } from './no-calls.ts'

const yesNo = ['yes', 'no'] as const

/** Stored callbacks, newest first. */
export async function callsPage(visit: Visit): Promise<ConsolePage> {
  const { url } = visit
  const paymentId = chosen(url, 'payment')
  const isId = paymentId === undefined || readUuid(paymentId) !== undefined
  const { data, nextCursor } = isId ? await listed(visit, paymentId) : noRows
  const isShort = nextCursor !== null && data.length < pageSize
  const isFirst = !url.searchParams.has('cursor')
  return {
    title: 'Calls',
    section: 'calls',
    ...(isFirst && { refreshSeconds: 5 }),
    body: html`${filters(url, fieldsOf(visit))}
      ${!isId && html`<p class="fault">A payment is named by its whole id.</p>`}
      ${replayForm(visit, data)} ${isFirst && followButtons}
      <div id="rows" data-live>${rowsOf(visit, data, isShort)}</div>
      ${isShort && lookedBack(visit, nextCursor)}
      ${pager(url, nextCursor, isShort ? 'Look further' : 'Next')}`,
  }
}

/** Where scripts run: rows stay where they are until somebody wants the new ones. */
const followButtons = html`<p class="actions">
  <label class="check" hidden><input type="checkbox" id="follow" /> Follow</label>
  <button type="button" id="new-rows" hidden></button>
</p>`

const noRows = { data: [], nextCursor: null } as const

function listed({ console, url }: Visit, paymentId: string | undefined) {
  const review = chosenOf(url, 'review', yesNo)
  return console.core.calls.list({
    limit: pageSize,
    ...given({
      cursor: chosen(url, 'cursor'),
      gateway: chosen(url, 'gateway'),
      state: chosenOf(url, 'state', callStates),
      needsReview: review === undefined ? undefined : review === 'yes',
      paymentId,
    }),
  })
}

function fieldsOf({ console }: Visit): readonly Filter[] {
  return [
    gatewayChoice(console.core),
    {
      kind: 'choice',
      name: 'state',
      label: 'State',
      options: callStates.map((state) => [state, state]),
    },
    {
      kind: 'choice',
      name: 'review',
      label: 'Needs a person',
      options: yesNo.map((one) => [one, one]),
    },
    { kind: 'text', name: 'payment', label: 'Payment: id' },
  ]
}

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
  const { console, url, visitor } = visit
  const now = console.now()
  const empty = isShort ? 'None of those that were looked at fits.' : whyNoCalls(visit)
  return table({
    caption: 'Stored callbacks, newest first',
    columns: [
      'Call',
      'State',
      'Gateway',
      'Outcome',
      'Payment',
      'Received',
      { title: 'Attempts', isNumber: true },
    ],
    ids: calls.map(({ id }) => id),
    rows: calls.map((call) => [
      html`${visitor.role === 'operator' && hasEnded(call) && markOf(call)}
      ${idLink(`${console.path}/calls/${call.id}`, call.id)}`,
      html`${callBadge(call.state)} ${call.needsReview && badge('needs a person', 'bad')}`,
      html`<a
        href="${withQuery(url, { gateway: call.gateway, cursor: undefined, done: undefined })}"
        >${call.gateway}</a
      >`,
      outcomeOf(call),
      call.paymentId === null
        ? nothing
        : idLink(`${console.path}/payments/${call.paymentId}`, call.paymentId),
      time(call.receivedAt, now),
      call.attempts,
    ]),
    empty,
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
