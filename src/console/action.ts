import { html } from 'hono/html'
import type { Html } from '../http/pages/layout.ts'
import type { Visit } from './context.ts'
import { formFields, type ConsolePage } from './page.ts'
import { withQuery } from './parts/filters.ts'
import type { Notice } from './words/notices.ts'

/** What an operator is asked before anything is done. */
export interface Question {
  readonly title: string
  /** What happens, and what cannot be undone. */
  readonly explanation: Html
  /** What the button says: the deed itself. Undefined: as it is now, there is nothing to do. */
  readonly button: string | undefined
  readonly fields?: Html
  readonly section?: ConsolePage['section']
}

/** What came of it, and where the operator goes from here. */
export interface Done {
  readonly notice: Notice
  /** A path below that of the console, if not the one that the operator came from. */
  readonly to?: string
  /** For the audit; `done` if left out. */
  readonly outcome?: string
}

/** A page that is shown this once, instead of the one that the operator came from: a new secret. */
export interface ShownOnce {
  readonly page: ConsolePage
  /** For the audit; `done` if left out. */
  readonly outcome?: string
}

/** Something that an operator does: a page that asks, and a form that does it. */
export interface Action {
  /** As the audit calls it. */
  readonly name: string
  /** Then the token must have been shown lately. */
  readonly movesMoney?: boolean
  /** Undefined: there is no such thing. `form`: what was typed, where it could not be done. */
  readonly question: (visit: Visit, form?: URLSearchParams) => Promise<Question | undefined>
  /** What it is done to; the id in the path if left out. */
  readonly subject?: (visit: Visit, form: URLSearchParams) => string | null
  /** What else the audit keeps; never a secret. */
  readonly detail?: (form: URLSearchParams) => Readonly<Record<string, unknown>>
  /** `id`: a UUID of the form, the same however often it is sent. */
  readonly act: (visit: Visit, submitted: Submitted) => Promise<Done | ShownOnce>
  /** Where it leads back to, by default. */
  readonly back: (visit: Visit) => string
}

export interface Submitted {
  readonly id: string
  readonly form: URLSearchParams
}

/** The page that asks; `fault`: why it could not be done as it was asked for. */
export function questionPage(
  visit: Visit,
  { action, question, back, fault, status }: Asked,
): ConsolePage {
  const { visitor, console } = visit
  const mustProve = action.movesMoney === true && visitor.session?.isProved === false
  return {
    title: question.title,
    ...(question.section !== undefined && { section: question.section }),
    ...(status !== undefined && { status }),
    body: html`<div class="panel ask">
      ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
      ${question.explanation}
      ${
        question.button === undefined
          ? html`<p><a class="button" data-back href="${back}">Back</a></p>`
          : html`<form method="post" action="${visit.url.pathname}">
              ${formFields(visitor)} <input type="hidden" name="id" value="${console.newId()}" />
              <input type="hidden" name="back" value="${back}" />
              ${question.fields} ${mustProve && tokenField}
              <div class="actions">
                <button class="go">${question.button}</button>
                <a class="button" data-back href="${back}">Back</a>
              </div>
            </form>`
      }
    </div>`,
  }
}

const tokenField = html`<label
  >Your token, again: this moves money
  <input type="password" name="token" autocomplete="current-password" required
/></label>`

export interface Asked {
  readonly action: Action
  readonly question: Question
  readonly back: string
  readonly fault?: string
  readonly status?: number
}

/** A link to the page that asks, which leads back here. */
export function actionLink({ visitor, url }: Visit, href: string, text: string): Html {
  if (visitor.role !== 'operator') return html``
  const target = withQuery(new URL(href, url), { back: withoutNotice(url) })
  return html`<a class="button" data-ask href="${target}">${text}</a>`
}

function withoutNotice(url: URL): string {
  return withQuery(url, { done: undefined })
}

/** Where a form leads back to: nowhere but to pages of the console. */
export function backTo(
  visit: { readonly url: URL; readonly console: Pick<Visit['console'], 'path'> },
  wanted: string | null,
  otherwise: string,
): string {
  const { path } = visit.console
  if (wanted === null || wanted === '') return otherwise
  // As a browser would read it: a backslash or a tab may hide another site.
  const url = URL.parse(wanted, visit.url.origin)
  if (url === null || url.origin !== visit.url.origin) return otherwise
  const isOurs = url.pathname === path || url.pathname.startsWith(`${path}/`)
  return isOurs ? url.pathname + url.search : otherwise
}

/** The same page, which then says what was done. */
export function withNotice(path: string, notice: Notice): string {
  const [pathname = '', search = ''] = path.split('?')
  const query = new URLSearchParams(search)
  query.set('done', notice)
  return `${pathname}?${query.toString()}`
}
