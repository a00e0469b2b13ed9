import { html } from 'hono/html'
import type { Endpoint } from '../../events/endpoint.ts'
import { fieldError } from '../../kernel/errors.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { isEndpointName } from '../../outbound/endpoint-input.ts'
import type { Action, Question } from '../action.ts'
import type { Visit } from '../context.ts'
import { shown } from '../parts/shown.ts'
import { count } from '../../kernel/figures.ts'
import { time } from '../parts/values.ts'
import { sendResultText } from '../words/endpoints.ts'
import { answerOf } from './endpoint.ts'

/** The name or the id in the path. */
export const nameOf = ({ params }: Visit) => params['name'] ?? ''

/** What all that is done to an endpoint has in common; whatever else stands in a path is nobody's. */
export const ofEndpoint = {
  subject: (visit: Visit) => {
    const name = nameOf(visit)
    return isEndpointName(name) || isUuid(name) ? name : null
  },
  back: (visit: Visit) => `${visit.console.path}/endpoints/${encodeURIComponent(nameOf(visit))}`,
} satisfies Partial<Action>

/** What is asked about an endpoint, if there is one. */
export function aboutEndpoint(
  ask: (found: Endpoint, visit: Visit, form?: URLSearchParams) => Question,
): Action['question'] {
  return async (visit, form) => {
    const found = await visit.console.core.endpoints.get(nameOf(visit))
    return found && { section: 'endpoints', ...ask(found, visit, form) }
  }
}

/** It is sent to again. */
export const enableEndpoint: Action = {
  ...ofEndpoint,
  name: 'enableEndpoint',
  question: aboutEndpoint(({ name, behind, enabled }) => ({
    title: enabled ? `Try ${name} again now?` : `Enable ${name}?`,
    explanation: html`<p>
      Events are sent to it at once. It is behind by ${count(behind)} events. If you go on at the
      end, those are never sent, unless you replay them.
    </p>`,
    fields: html`<label
      >Go on
      <select name="from">
        <option value="">where it was: it gets all that it has missed</option>
        <option value="end">at the end: what it has missed is left out</option>
      </select></label
    >`,
    button: enabled ? 'Try again now' : 'Enable',
  })),
  detail: (form) => ({ from: form.get('from') === 'end' ? 'end' : 'its place' }),
  act: async (visit, { form }) => {
    const from = form.get('from') === 'end' ? ({ from: 'end' } as const) : {}
    await visit.console.core.endpoints.enable(nameOf(visit), from)
    return { notice: 'endpoint_enabled' }
  },
}

/** Nothing is sent to it. */
export const disableEndpoint: Action = {
  ...ofEndpoint,
  name: 'disableEndpoint',
  question: aboutEndpoint(({ name }) => ({
    title: `Disable ${name}?`,
    explanation: html`<p>
      Nothing more is sent to it; requests under way end. Its place in the feed stays: once enabled,
      it gets all that it has missed.
    </p>`,
    button: 'Disable',
  })),
  act: async (visit) => {
    await visit.console.core.endpoints.disable(nameOf(visit))
    return { notice: 'endpoint_disabled' }
  },
}

/** One request that is no event; what came back is shown at once. */
export const testEndpoint: Action = {
  ...ofEndpoint,
  name: 'testEndpoint',
  question: aboutEndpoint(({ name, timeoutSeconds }) => ({
    title: `Send a test to ${name}?`,
    explanation: html`<p>
      It gets one signed request of the type <code>EndpointTest</code>, which is no event, also
      while it is disabled. The page waits for its answer, ${timeoutSeconds} seconds at most.
    </p>`,
    button: 'Send a test',
  })),
  act: async (visit) => {
    const name = nameOf(visit)
    const sent = await visit.console.core.endpoints.test(name)
    const { result, status, durationMs, response } = sent
    const isTaken = result === 'delivered'
    return {
      outcome: `${result} ${status ?? ''}`.trim(),
      page: {
        title: `Test of ${shown(name)}`,
        section: 'endpoints',
        body: html`<p class="${isTaken ? 'notice' : 'fault'}" role="status">
            ${sendResultText(result)} ${status !== null && html`It answered ${status}.`} It took
            ${durationMs} ms.
          </p>
          ${response !== null && html`<div class="panel">${answerOf(visit, response)}</div>`}
          <p class="actions">
            <a class="button" href="${ofEndpoint.back(visit)}">To the endpoint</a>
          </p>`,
      },
    }
  },
}

/** Sends again what it has had since a time. */
export const replayEndpoint: Action = {
  ...ofEndpoint,
  name: 'replayEndpoint',
  question: aboutEndpoint(({ name, behind, enabled }, { console }, form) => ({
    title: `Replay to ${name}?`,
    explanation: html`<p>
        Every event since that time is sent again, under the same ids: an app that keeps the ids
        that it has had ignores them. There may be many, and new events wait behind them. It cannot
        be stopped but by disabling the endpoint.
      </p>
      ${!enabled && html`<p><b>It is enabled by this.</b></p>`}
      <p class="soft">
        ${count(behind)} events are beyond its place now. The time is
        ${time(console.now(), console.now())}.
      </p>`,
    fields: html`<label
      >Since, in UTC
      <input type="datetime-local" name="since" value="${form?.get('since') ?? ''}" required
    /></label>`,
    button: 'Replay',
  })),
  detail: (form) => ({ since: shown(form.get('since') ?? '') }),
  act: async (visit, { form }) => {
    const { endpoints } = visit.console.core
    const since = utcTime(form.get('since') ?? '')
    if (since === undefined) {
      throw fieldError('query_invalid', 'since', 'must be a time such as 2026-11-20T09:30')
    }
    await endpoints.replay(nameOf(visit), { since })
    return { notice: 'endpoint_replayed' }
  },
}

/** For good. */
export const removeEndpoint: Action = {
  ...ofEndpoint,
  name: 'deleteEndpoint',
  question: aboutEndpoint(({ name, behind }) => ({
    title: `Remove ${name}?`,
    explanation: html`<p>
      Nothing is sent to it any more, its secret and its place in the feed are gone, and it cannot
      be taken back: ${count(behind)} events that it has not had are never sent to it. To keep its
      place, disable it.
    </p>`,
    button: 'Remove the endpoint',
  })),
  act: async (visit) => {
    await visit.console.core.endpoints.remove(nameOf(visit))
    return { notice: 'endpoint_removed', to: '/endpoints' }
  },
}

const typed = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/

/** What a field of a time and a day says, read as UTC as all times of the pages; undefined: no time. */
export function utcTime(text: string): Date | undefined {
  if (!typed.test(text)) return undefined
  const time = new Date(`${text}Z`)
  if (Number.isNaN(time.getTime())) return undefined
  // `Date` takes 31 February for 3 March.
  return time.toISOString().startsWith(text.slice(0, 10)) ? time : undefined
}
