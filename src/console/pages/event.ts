import { html } from 'hono/html'
import type { EventHistory } from '../../billing/event-types.ts'
import { forwardFields } from '../../events/endpoint.ts'
import { deliveryFields } from '../../events/event-record.ts'
import { failedAttemptFields } from '../../events/failed-attempt.ts'
import type { Html } from '../../http/pages/layout.ts'
import { orNull, text } from '../../kernel/noun.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { attemptNoun } from '../../wire/endpoint.ts'
import { eventNoun, type ListedEvent } from '../../wire/outgoing-event.ts'
import { type Action, actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { deliveryBadge, forwardBadge } from '../parts/badges.ts'
import { nounFacts, nounTable } from '../parts/noun.ts'
import { shown, shownWhole } from '../parts/shown.ts'
import { number } from '../../kernel/figures.ts'
import { idText, nothing, shortId } from '../parts/values.ts'
import { attemptCells } from './endpoint.ts'
import { cells, typeOf } from './events.ts'

/** One event: what it says, what caused it, and who has had it. */
export async function eventPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { events } = console.core
  const { id = '' } = params
  const found = isUuid(id) ? await events.get(id) : undefined
  if (found === undefined) return undefined
  const history = await events.history(id)
  return {
    title: `Event ${shortId(id)}`,
    section: 'events',
    beside: html`${typeOf(found)}
      <span class="actions">
        ${actionLink(visit, `${console.path}/events/${id}/resend`, 'Resend to an endpoint')}
      </span>`,
    body: html`${factsOf(visit, found)}
      <h2>Listeners</h2>
      ${deliveriesOf(visit, found)} ${failuresOf(visit, history)}
      <h2>Endpoints</h2>
      ${forwardsOf(visit, history)} ${attemptsOf(visit, history)}
      <h2>What it says</h2>
      ${dataOf(found)}`,
  }
}

/** What stands beside the title, or below the facts. */
const without = ['type', 'superseded', 'data', 'deliveries']

function factsOf(visit: Visit, found: ListedEvent): Html {
  const own = { ...cells, dedupKey: () => idText(found.dedupKey) }
  return nounFacts(eventNoun, found, { visit, cells: own, without })
}

function deliveriesOf(visit: Visit, { deliveries }: ListedEvent): Html {
  const noun = { plural: 'deliveries', facts: deliveryFields, columns: Object.keys(deliveryFields) }
  return nounTable(noun, deliveries, {
    visit,
    cells: {
      state: ({ state }) => deliveryBadge(state),
      exception: ({ exception }) => (exception === null ? nothing : textOf(exception)),
    },
    caption: 'Its deliveries to queued listeners',
    empty: html`No queued listener gets it. Those that run within the callback's transaction have
    had it with that, or the event would not be there.`,
  })
}

function failuresOf(visit: Visit, { failedAttempts }: EventHistory): Html | false {
  if (failedAttempts.length === 0) return false
  const columns = ['at', 'listener', 'attempt', 'exception']
  return html`<h3>Attempts that failed</h3>
    ${nounTable({ plural: 'attempts', facts: failedAttemptFields, columns }, failedAttempts, {
      visit,
      cells: { exception: ({ exception }) => textOf(exception) },
      caption: 'Attempts that failed, oldest first',
      empty: '',
    })}`
}

/** An exception: its first line, and all of it where there is more. */
function textOf(exception: string): Html {
  const [first = '', ...rest] = exception.split('\n')
  if (rest.length === 0 && first.length <= 200) return html`${shown(first)}`
  return html`<details>
    <summary>${shown(first)}</summary>
    <pre tabindex="0">${linesOf(exception)}</pre>
  </details>`
}

const endpoint = orNull(text({ of: 'endpoint' }))

function forwardsOf(visit: Visit, { forwards }: EventHistory): Html | false {
  if (forwards.length === 0) return false
  const columns = ['endpoint', 'state', 'attempts', 'nextAttemptAt']
  const noun = { plural: 'endpoints', facts: { ...forwardFields, endpoint }, columns }
  return nounTable(noun, forwards, {
    visit,
    cells: { state: ({ state }) => forwardBadge(state) },
    caption: 'How it stands where it did not go at first, or was sent again',
    empty: '',
  })
}

function attemptsOf(visit: Visit, { attempts }: EventHistory): Html {
  const noun = { ...attemptNoun, facts: { ...attemptNoun.facts, endpoint } }
  return nounTable(noun, attempts, {
    visit,
    cells: attemptCells(visit),
    columns: ['at', 'endpoint', 'attempt', 'result', 'status', 'durationMs', 'response'],
    empty: 'It was sent to no endpoint, or what is known of it was pruned.',
  })
}

/** Characters; a document with very many lines has more. */
const mostShown = 64 * 1024

/** As it goes out, with its subjects as they stand now. */
function dataOf(found: ListedEvent): Html {
  const said = JSON.stringify(found.toJSON().data, null, 2)
  const isCut = said.length > mostShown
  return html`<p class="soft">As it goes out, with what it is about as that stands now.</p>
    <pre tabindex="0">${linesOf(said.slice(0, mostShown).toWellFormed())}</pre>
    ${isCut && html`<p class="soft">The first ${number(mostShown)} characters.</p>`}`
}

function linesOf(text: string): string {
  return text.split('\n').map(shownWhole).join('\n')
}

const idOf = ({ params }: Visit) => params['id'] ?? ''

/** Sends the event to one endpoint, also if that endpoint has already answered or given up. */
export const resendEvent: Action = {
  name: 'resendEvent',
  back: (visit) => `${visit.console.path}/events/${idOf(visit)}`,
  question: async (visit, form) => {
    const { core } = visit.console
    const id = idOf(visit)
    const found = isUuid(id) ? await core.events.get(id) : undefined
    if (found === undefined) return undefined
    const endpoints = await core.endpoints.list()
    const wanted = form?.get('endpoint') ?? visit.url.searchParams.get('endpoint')
    return {
      title: 'Resend the event?',
      section: 'events',
      explanation: html`<p>
        ${shown(found.type)} is sent to the endpoint once more, under the same id, also if it had it
        already: an app that keeps the ids that it has had ignores it. What it is about is sent as
        it stands now. A disabled endpoint gets it once it is enabled.
      </p>`,
      fields: html`<label
        >Endpoint
        <select name="endpoint" required>
          ${endpoints.map(
            ({ name, enabled }) =>
              html`<option value="${name}" ${name === wanted && 'selected'}>
                ${name}${enabled ? '' : ' (disabled)'}
              </option>`,
          )}
        </select></label
      >`,
      button: 'Resend',
    }
  },
  detail: (form) => ({ endpoint: shown(form.get('endpoint') ?? '') }),
  act: async (visit, { form }) => {
    await visit.console.core.endpoints.resend(form.get('endpoint') ?? '', idOf(visit))
    return { notice: 'event_resent' }
  },
}
