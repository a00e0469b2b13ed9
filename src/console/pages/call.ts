import { html } from 'hono/html'
import { deferredFields } from '../../events/event-record.ts'
import type { FailedAttempt } from '../../events/failed-attempt.ts'
import { type CallDetails, type WebhookCall, reasonsOf } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import { fieldError, isQuittanceError } from '../../kernel/errors.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { stepFor } from '../../payments/reasons.ts'
import { callDetailsNoun, callNoun } from '../../wire/call.ts'
import { type Action, type Question, actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import { type ConsolePage, pageHeaders, visitedPage } from '../page.ts'
import { callBadge } from '../parts/choices.ts'
import { type Cells, nounFacts, nounTable } from '../parts/noun.ts'
import { shown, shownLines } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { number } from '../../kernel/figures.ts'
import { badge, idText, nothing, shortId, time } from '../parts/values.ts'
import { callStateWords, outcomeInWords, payloadKindWords } from '../words/calls.ts'
import { payloadOf, storedBytes } from './call-payload.ts'
import { hasEnded } from './calls.ts'

/** What stands elsewhere on the page. */
const without = [
  'state',
  'needsReview',
  'outcome',
  'dedupClaims',
  'failedAttempts',
  'headers',
  'exception',
  'payload',
  'bodyBase64',
]

const cells: Cells<CallDetails> = { kind: ({ kind }) => payloadKindWords[kind] }

/** One stored callback: what was received, and what became of it. */
export async function callPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { id = '' } = params
  const call = isUuid(id) ? await console.core.calls.get(id) : undefined
  if (call === undefined) return undefined
  const at = `${console.path}/calls/${call.id}`
  return {
    title: `Call ${shortId(id)}`,
    section: 'calls',
    beside: html`${callBadge(call.state)} ${call.needsReview && badge('needs a person', 'bad')}
      <span class="actions"
        >${hasEnded(call) && actionLink(visit, `${at}/replay`, 'Replay')}</span
      >`,
    body: html`<p>${callStateWords[call.state]}</p>
      ${nounFacts(callDetailsNoun, call, { visit, cells, without })} ${outcomesOf(visit, call)}
      ${waitingOf(visit, call)} ${attemptsOf(visit, call.failedAttempts)} ${headersOf(call)}
      ${payloadOf(visit, call)}`,
  }
}

/** A callback may say thousands of things. */
const mostListed = 50

function outcomesOf({ console }: Visit, call: CallDetails): Html {
  const { outcome, needsReview, dedupClaims, paymentId } = call
  const results = outcome ?? []
  const reviews = `${console.path}/reviews${paymentId === null ? '' : `?payment=${paymentId}`}`
  return html`<h2>Outcome</h2>
    <div class="panel">
      ${
        results.length === 0
          ? html`<p>None yet.</p>`
          : listOf(results, (one) => outcomeInWords(one))
      }
      ${
        needsReview &&
        html`<p>A person must look at it: <a href="${reviews}">reviews</a>.</p>
          ${[...new Set(reasonsOf(call).map(stepFor))].map((step) => html`<p>${step}</p>`)}`
      }
      ${
        dedupClaims.length > 0 &&
        html`<p>Events that it claimed: what says the same later is a duplicate.</p>
          ${listOf(dedupClaims, (claim) => claim)}`
      }
    </div>`
}

function listOf<T>(items: readonly T[], textOf: (item: T) => string): Html {
  const left = items.length - mostListed
  return html`<ul>
      ${items.slice(0, mostListed).map((item) => html`<li>${shown(textOf(item))}</li>`)}
    </ul>
    ${left > 0 && html`<p>And ${number(left)} more.</p>`}`
}

function waitingOf(visit: Visit, { deferredEvents }: CallDetails): Html | false {
  if (deferredEvents.length === 0) return false
  const columns = ['type', 'state', 'attempts', 'nextAttemptAt', 'exception']
  return html`<h2>Events that were not dispatched yet</h2>
    ${nounTable({ plural: 'events', facts: deferredFields, columns }, deferredEvents, {
      visit,
      cells: {
        exception: ({ exception }) => (exception === null ? nothing : shown(firstLine(exception))),
      },
      caption: 'Events of this call that wait for their listeners',
      empty: '',
    })}`
}

function attemptsOf({ console }: Visit, attempts: readonly FailedAttempt[]): Html | false {
  if (attempts.length === 0) return false
  const now = console.now()
  return html`<h2>Attempts that failed</h2>
    ${attempts.toReversed().map(
      ({ attempt, listener, exception, at }) =>
        html`<details class="panel">
          <summary>
            Attempt ${attempt},
            ${time(at, now)}${listener !== null && `, listener ${shown(listener)}`}:
            ${shown(firstLine(exception))}
          </summary>
          <pre tabindex="0">${shownLines(exception)}</pre>
        </details>`,
    )}`
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

function headersOf({ headers }: CallDetails): Html {
  return html`<h2>Headers</h2>
    <p>Those that carry a credential are masked before they are stored.</p>
    ${table({
      caption: 'Headers of the request',
      columns: ['Name', 'Value'],
      rows: Object.entries(headers).map(([name, value]) => [shown(name), shown(value)]),
      empty: 'None is stored.',
    })}`
}

/** All that is stored of a body, as a file. It is recorded before: what is not recorded does not go out. */
export async function callBody(visit: Visit): Promise<Response | undefined> {
  const { console, params, visitor } = visit
  const { id = '' } = params
  const call = isUuid(id) ? await console.core.calls.get(id) : undefined
  if (call === undefined) return undefined
  const bytes = storedBytes(call)
  if (bytes === undefined) return nothingInTheClear(visit)
  const action = console.newId()
  await console.core.operators.recordAction({
    id: action,
    operator: visitor.name,
    via: 'console',
    action: 'downloadCallBody',
    subject: call.id,
    detail: { bytes: bytes.byteLength },
  })
  await console.core.operators.endAction(action, 'done')
  return new Response(Buffer.from(bytes), {
    headers: {
      ...pageHeaders,
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="call-${call.id}.bin"`,
    },
  })
}

function nothingInTheClear(visit: Visit): Promise<Response> {
  return visitedPage(visit, {
    status: 404,
    title: 'No body',
    section: 'calls',
    body: html`<p>
      The body of this call is stored encrypted, or not at all. The console does not decrypt it.
    </p>`,
  })
}

/** As many as a page of the list has. */
const mostMarked = 50

const whatHappens = html`The same program runs again over what was received. What was dispatched is
not dispatched again: only what was not applied, or not dispatched, is. Listeners that failed are
tried again.`

/** Processes one call again. */
export const replayCall: Action = {
  name: 'replayWebhookCall',
  back: ({ console, params }) => `${console.path}/calls/${params['id']}`,
  question: async ({ console, params }) => {
    const { id = '' } = params
    const call = isUuid(id) ? await console.core.calls.get(id) : undefined
    return (
      call && {
        title: 'Replay the call?',
        section: 'calls',
        explanation: html`<p>
            Call ${idText(call.id)} of ${call.gateway} is processed again. ${callBadge(call.state)}
          </p>
          <p>${whatHappens}</p>`,
        button: hasEnded(call) ? 'Replay the call' : undefined,
      }
    )
  },
  act: async ({ console, params }) => {
    await console.core.calls.replay(params['id'] ?? '')
    return { notice: 'replayed' }
  },
}

/** Processes the calls again that are marked in the list, each once. */
export const replayMarked: Action = {
  name: 'replayWebhookCalls',
  back: ({ console }) => `${console.path}/calls`,
  question: async (visit) => markedQuestion(visit, markedIn(visit.url.searchParams)),
  subject: () => null,
  detail: (form) => ({ calls: markedIn(form).slice(0, mostMarked).join(' ') }),
  act: async ({ console }, { form }) => {
    const ids = markedIn(form)
    if (ids.length === 0) throw fieldError('query_invalid', 'call', 'must be marked')
    if (ids.length > mostMarked) {
      throw fieldError('query_invalid', 'call', `must be ${mostMarked} at most`)
    }
    let replayed = 0
    for (const id of ids) replayed += (await replay(console, id)) ? 1 : 0
    return {
      notice: replayed === ids.length ? 'replayed_all' : 'replayed_some',
      outcome: `replayed ${replayed} of ${ids.length}`,
    }
  },
}

/** Those that an address or a form names: each once, and nothing but ids. */
function markedIn(fields: URLSearchParams): readonly string[] {
  return [...new Set(fields.getAll('call').map((id) => id.toLowerCase()))].filter(isUuid)
}

/** False: it is on its way, or gone. */
async function replay({ core }: Visit['console'], id: string): Promise<boolean> {
  try {
    await core.calls.replay(id)
    return true
  } catch (error) {
    if (!isQuittanceError(error)) throw error
    if (error.code === 'call_in_progress' || error.code === 'call_not_found') return false
    throw error
  }
}

async function markedQuestion(visit: Visit, ids: readonly string[]): Promise<Question> {
  const section = 'calls'
  if (ids.length === 0 || ids.length > mostMarked) {
    return {
      title: 'Replay the marked calls?',
      section,
      explanation: html`<p>Mark 1 to ${mostMarked} calls in the list, and try again.</p>`,
      button: undefined,
    }
  }
  const calls: WebhookCall[] = []
  for (const id of ids) {
    const call = await visit.console.core.calls.find(id)
    if (call !== undefined) calls.push(call)
  }
  return {
    title: calls.length === 1 ? 'Replay 1 call?' : `Replay ${calls.length} calls?`,
    section,
    explanation: html`<p>${whatHappens}</p>
      ${replayed(visit, calls)}`,
    fields: html`${calls.map(({ id }) => html`<input type="hidden" name="call" value="${id}" />`)}`,
    button: calls.length === 0 ? undefined : 'Replay them',
  }
}

function replayed(visit: Visit, calls: readonly WebhookCall[]): Html {
  return nounTable(callNoun, calls, {
    visit,
    columns: ['id', 'state', 'gateway', 'receivedAt'],
    cells: { id: ({ id }) => idText(id), state: ({ state }) => callBadge(state) },
    caption: 'The calls that are replayed',
    empty: 'None of them is stored any more.',
  })
}
