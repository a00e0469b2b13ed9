import assert from 'node:assert/strict'
import type { BillingCore } from '../../src/billing/types.ts'
import { operatorConsole } from '../../src/console/index.ts'
import type { OperatorAction, OperatorRole } from '../../src/wire/operator.ts'

/** A page as a browser gets it. */
export interface GotPage {
  readonly status: number
  readonly html: string
  /** Without tags, its entities read, one space between words. */
  readonly text: string
  readonly location: string | null
  readonly headers: Headers
}

/** The console of an app, asked as a browser of one operator asks it. */
export interface ConsolePages {
  get(path: string): Promise<GotPage>
  /** The form of the page that asks, with what is typed into it. */
  form(path: string, typed?: Fields): Promise<URLSearchParams>
  post(path: string, form: URLSearchParams): Promise<GotPage>
  /** Opens the page that asks, fills the form and sends it. */
  press(path: string, typed?: Fields): Promise<GotPage>
}

type Fields = Readonly<Record<string, string | readonly string[]>>

const host = 'console.test'
const path = '/admin/billing'

export function consolePages(
  core: BillingCore,
  { role = 'operator', name = 'ops-1' }: { role?: OperatorRole; name?: string } = {},
): ConsolePages {
  const pages = operatorConsole(core, {
    path,
    hosts: [host],
    authenticate: async () => ({ name, role }),
    links: {
      payable: ({ type, id }) =>
        `https://admin.example.com/${type}/${id.replaceAll(/\d{9,}/g, '')}`,
    },
  })
  const cookies = new Map<string, string>()
  const ask = async (at: string, init: RequestInit = {}): Promise<GotPage> => {
    const headers = new Headers(init.headers)
    headers.set('host', host)
    headers.set('cookie', [...cookies].map(([one, value]) => `${one}=${value}`).join('; '))
    const answer = await pages.fetch(new Request(`http://${host}${at}`, { ...init, headers }))
    for (const cookie of answer.headers.getSetCookie()) {
      const [, one = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(one, value)
    }
    const html = await answer.text()
    const { status } = answer
    return {
      status,
      html,
      text: textOf(html),
      location: answer.headers.get('location'),
      headers: answer.headers,
    }
  }
  const post: ConsolePages['post'] = (at, body) =>
    ask(path + at, { method: 'POST', body, headers: { 'sec-fetch-site': 'same-origin' } })
  const form: ConsolePages['form'] = async (at, typed = {}) => {
    const { status, html } = await ask(path + at)
    assert.equal(status, 200)
    const [, fields = ''] = /<form method="post" action="[^"]*">(.*?)<\/form>/s.exec(html) ?? []
    const hidden = fields.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)
    const filled = new URLSearchParams(
      Array.from(hidden, ([, one = '', value = '']) => [one, value]),
    )
    for (const [one, values] of Object.entries(typed)) {
      for (const value of [values].flat()) filled.append(one, value)
    }
    return filled
  }
  return {
    get: (at) => ask(path + at),
    form,
    post,
    press: async (at, typed) => post(at, await form(at, typed)),
  }
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
}

function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&([#\w]+);/g, (whole, name: string) => entities[name] ?? whole)
    .replaceAll(/\s+/g, ' ')
}

/** What nobody may be able to write into a page. */
export const hostile = '<script>alert(1)</script>"onmouseover="x\u{202e} 4242424242424242'

/** Nothing of it acts, hides or can be charged. */
export function assertHarmless({ html }: GotPage): void {
  assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;'), 'it is shown as text')
  assert.ok(!html.includes('<script>alert'))
  assert.ok(!html.includes('"onmouseover='))
  assert.ok(!html.includes('\u{202e}'))
  assert.ok(!html.includes('4242424242424242'))
}

/** What was recorded of this, newest first. */
export async function actionsOn(
  core: BillingCore,
  subject: string,
): Promise<readonly Pick<OperatorAction, 'operator' | 'action' | 'detail' | 'outcome'>[]> {
  const { data } = await core.operators.actions({ subject })
  return data.map(({ operator, action, detail, outcome }) => ({
    operator,
    action,
    detail,
    outcome,
  }))
}
