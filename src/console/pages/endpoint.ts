import { html } from 'hono/html'
import {
  forwardFields,
  forwardFilters,
  type Endpoint,
  type Forward,
  type ForwardAttempt,
} from '../../events/endpoint.ts'
import type { Html } from '../../http/pages/layout.ts'
import { inWords } from '../../kernel/noun.ts'
import { attemptNoun, endpointNoun } from '../../wire/endpoint.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { endpointBadge, forwardBadge } from '../parts/badges.ts'
import { chosen, filters, pageSize, pager } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { nounFacts, nounFilters, nounQuery, nounTable, type Cells } from '../parts/noun.ts'
import { shownWhole } from '../parts/shown.ts'
import { count, number } from '../../kernel/figures.ts'
import { ago, nothing, time } from '../parts/values.ts'
import { disabledWords, forwardWords, sendResultText } from '../words/endpoints.ts'
import { urlOf } from './endpoints.ts'

/** Of those that failed; the others are on a page of their own. */
const failedShown = 10

/** One endpoint: how far it is, what was sent to it, and what it answered; never its secret. */
export async function endpointPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params, url } = visit
  const { endpoints } = console.core
  const found = await endpoints.get(params['name'] ?? '')
  if (found === undefined) return undefined
  const cursor = given({ cursor: chosen(url, 'cursor') })
  const attempts = await listed(() => endpoints.attempts(found.id, { limit: pageSize, ...cursor }))
  const failed = await endpoints.forwards(found.id, { state: 'failed', limit: failedShown })
  const at = `${console.path}/endpoints/${found.name}`
  return {
    status: attempts.status,
    title: found.name,
    section: 'endpoints',
    beside: html`${endpointBadge(found)} <span class="actions">${actionsOf(visit, found)}</span>`,
    body: html`${standingOf(visit, found)} ${factsOf(visit, found)}
      <h2>Events that failed there</h2>
      ${forwardsOf(visit, found, failed.data)}
      <p><a href="${at}/forwards">All that did not go at first, or were sent again</a></p>
      <h2>Requests</h2>
      ${attempts.fault} ${attemptsOf(visit, attempts.data)} ${pager(url, attempts.nextCursor)}`,
  }
}

function actionsOf(visit: Visit, { name, enabled, failures, source }: Endpoint): Html {
  const at = `${visit.console.path}/endpoints/${name}`
  const mayEnable = !enabled || failures > 0
  return html`${actionLink(visit, `${at}/test`, 'Send a test')}
  ${mayEnable && actionLink(visit, `${at}/enable`, enabled ? 'Try again now' : 'Enable')}
  ${enabled && actionLink(visit, `${at}/disable`, 'Disable')}
  ${actionLink(visit, `${at}/replay`, 'Replay')}
  ${source === 'api' && actionLink(visit, `${at}/rotate-secret`, 'Rotate the secret')}
  ${actionLink(visit, `${at}/remove`, 'Remove')}`
}

function standingOf({ console }: Visit, found: Endpoint): Html {
  const now = console.now()
  const { behind, oldestAt, enabled, disabledReason, disabledAt, failures, failingSince } = found
  const waiting =
    oldestAt === null
      ? html`It has had all events.`
      : html`The oldest event that it has not had is of ${ago(oldestAt, now)}; ${beyond(behind)}.`
  return html`<div class="panel">
    <p>${waiting}</p>
    ${
      !enabled &&
      html`<p class="fault">
        Nothing is sent since ${time(disabledAt, now)}.
        ${disabledReason !== null && disabledWords[disabledReason]}
      </p>`
    }
    ${
      enabled &&
      failures > 0 &&
      html`<p class="fault">
        ${count(failures)} requests failed in a row, since ${time(failingSince, now)}. The next is
        sent ${found.nextAt === null ? 'at once' : html`at ${time(found.nextAt, now)}`}.
      </p>`
    }
  </div>`
}

/** Those that it does not want are among them. */
function beyond(behind: number): string {
  return behind === 1
    ? '1 event is beyond its place'
    : `${count(behind)} events are beyond its place`
}

/** What the page says above its facts. */
const without = `id name enabled disabledReason disabledAt behind oldestAt failures failingSince
nextAt`.split(/\s/)

function factsOf(visit: Visit, found: Endpoint): Html {
  const cells: Cells<Endpoint> = { url: () => urlOf(visit, found) }
  return nounFacts(endpointNoun, found, { visit, cells, without })
}

/** Events at an endpoint, each with what can be done. */
export function forwardsOf(visit: Visit, { name }: Endpoint, rows: readonly Forward[]): Html {
  const { console, visitor } = visit
  const isOperator = visitor.role === 'operator'
  const resend = ({ eventId }: Forward) =>
    actionLink(visit, `${console.path}/events/${eventId}/resend?endpoint=${name}`, 'Resend')
  const own = {
    meaning: inWords(({ state }: Forward) => forwardWords[state], { label: 'what that means' }),
    do: inWords(() => null),
  }
  return nounTable(
    {
      plural: 'events',
      facts: { ...forwardFields, ...own },
      columns: ['eventId', 'state', 'meaning', 'attempts', 'nextAttemptAt', 'do'],
    },
    rows,
    {
      visit,
      cells: {
        state: ({ state }) => forwardBadge(state),
        do: (forward) => (isOperator ? resend(forward) : nothing),
      },
      caption: 'Events that did not go at first, newest first',
      empty: 'There is none.',
    },
  )
}

function attemptsOf(visit: Visit, attempts: readonly ForwardAttempt[]): Html {
  return nounTable(attemptNoun, attempts, {
    visit,
    columns: ['at', 'eventId', 'attempt', 'result', 'status', 'durationMs', 'response'],
    cells: attemptCells(visit),
    empty: 'Nothing was sent to it yet, or it was pruned.',
  })
}

/** What the pages of an endpoint and of an event show of a request in their own way. */
export function attemptCells(visit: Visit): Cells<ForwardAttempt> {
  return {
    result: ({ result }) => sendResultText(result),
    response: ({ response }) => answerOf(visit, response),
  }
}

/** The beginning is kept, up to 1,024 characters; it may repeat the path, so it is for operators. */
export function answerOf({ visitor }: Visit, response: string | null): Html {
  if (response === null) return nothing
  if (visitor.role !== 'operator') return html`<span class="soft">for operators</span>`
  const lines = response.split('\n').map(shownWhole)
  if (lines.length === 1 && response.length <= 80) return html`<code>${lines}</code>`
  return html`<details>
    <summary>${number(response.length)} characters</summary>
    <pre tabindex="0">${lines.join('\n')}</pre>
  </details>`
}

/** Events that did not go to an endpoint at first, or were sent again. */
export async function endpointForwardsPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params, url } = visit
  const { endpoints } = console.core
  const found = await endpoints.get(params['name'] ?? '')
  if (found === undefined) return undefined
  const query = { ...nounQuery(url, forwardFilters), ...given({ cursor: chosen(url, 'cursor') }) }
  const page = await listed(() => endpoints.forwards(found.id, { limit: pageSize, ...query }))
  return {
    status: page.status,
    title: `Sent again to ${found.name}`,
    section: 'endpoints',
    beside: html`<span class="actions">
      <a class="button" href="${console.path}/endpoints/${found.name}">To the endpoint</a>
    </span>`,
    body: html`${filters(url, nounFilters(visit, forwardFilters))} ${page.fault}
    ${page.fault === false && forwardsOf(visit, found, page.data)} ${pager(url, page.nextCursor)}`,
  }
}
