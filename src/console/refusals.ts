import { html } from 'hono/html'
import type { Context } from 'hono'
import { isPassing } from '../database/failure.ts'
import { statusOf } from '../http/api/errors.ts'
import { isQuittanceError, spelled, type ErrorCode } from '../kernel/errors.ts'
import { snakeCase } from '../kernel/field-names.ts'
import { requestIdOf } from '../http/request-id.ts'
import type { ConsoleContext, Visit } from './context.ts'
import type { Refusal } from './guard.ts'
import { plainPage, visitedPage } from './page.ts'
import { shown } from './parts/shown.ts'

interface Answered {
  readonly status: number
  readonly title: string
  readonly text: string
}

const answers: Readonly<Record<Refusal, Answered>> = {
  other_host: {
    status: 421,
    title: 'Not here',
    text: 'The console does not answer at this address. Open it by the address of the service, or add its host to BILLING_CONSOLE_HOSTS.',
  },
  not_a_form: {
    status: 415,
    title: 'Not a form',
    text: 'This address takes only the form of its page.',
  },
  other_site: {
    status: 403,
    title: 'From another site',
    text: 'The form was not sent from a page of the console. Open the page here, and send it again.',
  },
  form_too_large: {
    status: 413,
    title: 'Too much',
    text: 'The form is larger than any of the console. Shorten what you wrote, and send it again.',
  },
  form_lost: {
    status: 400,
    title: 'The form was lost',
    text: 'The form did not arrive whole. Send it again. If that does not help, something before the console reads it.',
  },
  form_outdated: {
    status: 403,
    title: 'The form is outdated',
    text: 'You have signed in again since the page was opened. Nothing was done: open it again.',
  },
  nobody: {
    status: 403,
    title: 'Not signed in',
    text: 'The service does not know who you are. Nothing was done: sign in, and do it again.',
  },
}

/** A request that did not get as far as a page. */
export function refuse(context: ConsoleContext, refusal: Refusal): Promise<Response> {
  const { status, title, text } = answers[refusal]
  const body = html`<p>${text}</p>
    <p><a href="${context.path}">To the console</a></p>`
  return plainPage(context, { status, title, body })
}

export function notFoundPage(visit: Visit): Promise<Response> {
  return visitedPage(visit, {
    status: 404,
    title: 'Not found',
    body: html`<p>There is nothing at this address. It may have been pruned, or never existed.</p>
      <p>Try to find it by any id, e-mail, or amount and day, above.</p>`,
  })
}

export function roleMissing(visit: Visit): Promise<Response> {
  return visitedPage(visit, {
    status: 403,
    title: 'For operators',
    body: html`<p>
      ${shown(visit.visitor.name)} is a viewer, and this needs the role <b>operator</b>. Nothing was
      done.
    </p>`,
  })
}

export function busyPage(context: ConsoleContext): Promise<Response> {
  return plainPage(context, {
    status: 503,
    title: 'Busy',
    headers: { 'retry-after': '2' },
    body: html`<p>Too many pages are being made at the moment. Open it again in a few seconds.</p>`,
  })
}

/** What a failure means to a person: what cannot be done says why, and what to do about it. */
export interface Failed {
  readonly status: number
  readonly text: string
}

/** Undefined: nobody expected it, or the database is away. */
export function failureOf(error: unknown): Failed | undefined {
  if (!isQuittanceError(error) || isOfDatabase(error.code)) return undefined
  const text = shown(`${spelled(error, snakeCase).message}.`)
  return { status: statusOf(error.code) ?? 422, text: `${text} ${error.fix}` }
}

function isOfDatabase(code: ErrorCode): boolean {
  return code.startsWith('database_') || code.startsWith('embedded_')
}

/** The last resort: a page that says so, and never why in the words of a program. */
export async function errorPage(error: unknown, context: ConsoleContext, c: Context) {
  const requestId = requestIdOf(c)
  const known = failureOf(error)
  if (known !== undefined && known.status < 500) {
    return plainPage(context, {
      status: known.status,
      title: 'That does not work',
      body: html`<p>${known.text}</p>`,
    })
  }
  const isAway = isPassing(error) || (isQuittanceError(error) && isOfDatabase(error.code))
  if (isAway) {
    context.log.warn({ err: error, requestId }, 'the database did not answer the console')
    return unavailable(context, c)
  }
  context.log.error(
    { err: error, page: c.req.routePath, requestId },
    'a page of the console failed unexpectedly',
  )
  return plainPage(context, {
    status: known?.status ?? 500,
    title: 'It failed',
    body: html`<p>${known?.text ?? 'The service met a fault of its own. Its log says which.'}</p>
      ${requestLine(requestId)}`,
  })
}

/** What to look for in the log. */
function requestLine(requestId: string) {
  return html`<p class="soft">Request ${requestId}</p>`
}

async function unavailable(context: ConsoleContext, c: Context): Promise<Response> {
  const { ready, problems } = await context.core.readiness()
  const isForm = c.req.method === 'POST'
  return plainPage(context, {
    status: 503,
    title: ready ? 'The database was too slow' : 'The database is away',
    headers: { 'retry-after': '5' },
    body: html`<ul>
        ${problems.map((problem) => html`<li>${shown(problem)}</li>`)}
      </ul>
      ${isForm && html`<p><b>It is not known whether it was done:</b> look at the audit first.</p>`}
      ${
        ready
          ? html`<p>Callbacks are taken as usual. Open the page again in a few seconds.</p>`
          : html`<p>
              Callbacks that cannot be stored are answered 503: providers send them again, and
              nothing is lost.
            </p>`
      }
      ${requestLine(requestIdOf(c))}`,
  })
}
