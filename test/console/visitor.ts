import assert from 'node:assert/strict'
import type { BillingCore } from '../../src/billing/types.ts'
import { operatorConsole } from '../../src/console/index.ts'
import type { OperatorRole } from '../../src/wire/operator.ts'

export const consolePath = '/admin/billing'
const host = 'admin.example.test'

export interface ShownPage {
  readonly status: number
  /** The page as it came. */
  readonly html: string
  /** What a person reads, each run of white space being one blank. */
  readonly text: string
  readonly headers: Headers
}

/** A browser of somebody who is signed in at the app that the console is part of. */
export interface Visitor {
  /** A path below that of the console. */
  open(path: string): Promise<ShownPage>
  /** Opens the page that asks, fills its form in and sends it. */
  submit(path: string, fields?: Readonly<Record<string, string>>): Promise<ShownPage>
  /** Sends a form with exactly these fields and those that the page of `path` has hidden. */
  send(path: string, form: URLSearchParams): Promise<ShownPage>
  /** The form that the page at the path has hidden. */
  hidden(path: string): Promise<URLSearchParams>
}

/** The console within an app that believes whoever says who they are. */
export function visiting(core: BillingCore): (name: string, role?: OperatorRole) => Visitor {
  const pages = operatorConsole(core, {
    path: consolePath,
    hosts: [host],
    authenticate: ({ headers }) => {
      const [name = '', role] = (headers.get('x-who') ?? '').split(':')
      return { name, role: role === 'viewer' ? 'viewer' : 'operator' }
    },
  })
  return (name, role = 'operator') => visitorOf(pages.fetch, `${name}:${role}`)
}

type Fetch = (request: Request) => Promise<Response>

function visitorOf(fetchPage: Fetch, who: string): Visitor {
  const cookies = new Map<string, string>()
  const ask = async (path: string, init: RequestInit = {}): Promise<ShownPage> => {
    const headers = new Headers(init.headers)
    headers.set('host', host)
    headers.set('x-who', who)
    headers.set('sec-fetch-site', 'same-origin')
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const url = path.startsWith(consolePath) ? path : consolePath + path
    const answer = await fetchPage(new Request(`https://${host}${url}`, { ...init, headers }))
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const html = await answer.text()
    return { status: answer.status, html, text: textOf(html), headers: answer.headers }
  }
  const hidden = async (path: string) => hiddenIn((await ask(path)).html)
  const send: Visitor['send'] = (path, form) => {
    const [pathname = ''] = path.split('?')
    return ask(pathname, { method: 'POST', body: form })
  }
  return {
    open: (path) => ask(path),
    hidden,
    send,
    submit: async (path, fields = {}) => {
      const form = await hidden(path)
      assert.ok(form.has('form_token'), `${path} has a form`)
      for (const [name, value] of Object.entries(fields)) form.set(name, value)
      return send(path, form)
    },
  }
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

function unescaped(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (one) => entities[one] ?? one)
}

function textOf(html: string): string {
  const body = html.slice(html.indexOf('<main'))
  return unescaped(body.replaceAll(/<[^>]*>/g, ' ')).replaceAll(/\s+/g, ' ')
}

/** Of the form that sends: the other ones are the search and the way out. */
function hiddenIn(html: string): URLSearchParams {
  const main = html.slice(html.indexOf('<main'))
  const form = new URLSearchParams()
  const inputs = main.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g)
  for (const [, name = '', value = ''] of inputs) form.append(unescaped(name), unescaped(value))
  return form
}
