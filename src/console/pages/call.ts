import { html } from 'hono/html'
import type { FailedAttempt } from '../../events/failed-attempt.ts'
import { reasonsOf, type CallDetails } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { stepFor } from '../../payments/reasons.ts'
import { callDetailsNoun } from '../../wire/call.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { callBadge } from '../parts/choices.ts'
import { nounFacts, type Cells } from '../parts/noun.ts'
import { shown, shownLines } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { badge, nothing, number, shortId, time } from '../parts/values.ts'
import { callStateWords, outcomeInWords, payloadKindWords } from '../words/calls.ts'
import { payloadOf } from './call-payload.ts'
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

function waitingOf({ console }: Visit, { deferredEvents }: CallDetails): Html | false {
  if (deferredEvents.length === 0) return false
  const now = console.now()
  return html`<h2>Events that were not dispatched yet</h2>
    ${table({
      caption: 'Events of this call that wait for their listeners',
      columns: ['Event', 'State', 'Attempts', 'Next attempt', 'Why'],
      rows: deferredEvents.map((event) => [
        shown(event.type),
        event.state,
        event.attempts,
        time(event.nextAttemptAt, now),
        event.exception === null ? nothing : shown(firstLine(event.exception)),
      ]),
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
