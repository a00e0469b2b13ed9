import { html } from 'hono/html'
import { fieldError, isQuittanceError } from '../../kernel/errors.ts'
import { isUuid } from '../../kernel/uuid.ts'
import type { WebhookCall } from '../../events/webhook-call.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { Action, Question } from '../action.ts'
import type { Visit } from '../context.ts'
import { callBadge } from '../parts/choices.ts'
import { table } from '../parts/table.ts'
import { idText, time } from '../parts/values.ts'
import { hasEnded } from './calls.ts'

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
      ${listOf(visit, calls)}`,
    fields: html`${calls.map(({ id }) => html`<input type="hidden" name="call" value="${id}" />`)}`,
    button: calls.length === 0 ? undefined : 'Replay them',
  }
}

function listOf({ console }: Visit, calls: readonly WebhookCall[]): Html {
  const now = console.now()
  return table({
    caption: 'The calls that are replayed',
    columns: ['Call', 'State', 'Gateway', 'Received'],
    rows: calls.map((call) => [
      idText(call.id),
      callBadge(call.state),
      call.gateway,
      time(call.receivedAt, now),
    ]),
    empty: 'None of them is stored any more.',
  })
}
