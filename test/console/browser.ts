import assert from 'node:assert/strict'

/** How a request is sent; `headers` of undefined are left out. */
export interface Sending {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | ReadableStream<Uint8Array>
  /** Of a runtime: what it passes beside the request. */
  readonly env?: unknown
}

export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Headers
  /** Where it leads to. */
  readonly location: string | null
}

export type Fetch = (request: Request, env?: unknown) => Response | Promise<Response>

export interface Browser {
  /** By name. */
  readonly cookies: Map<string, string>
  /** Everything that was answered, with its headers. */
  readonly answered: string[]
  open(path: string, sending?: Sending): Promise<Answer>
  /** Sends the form of a page, as a press of its button. */
  press(form: URLSearchParams, path: string, sending?: Sending): Promise<Answer>
  /** The form of this page that posts there, with what it carries. */
  formAt(page: string, path?: string): Promise<URLSearchParams>
}

/** Keeps cookies by name, and says what browsers say of themselves. */
export function openBrowser(fetch: Fetch, origin = 'http://localhost:3000'): Browser {
  const cookies = new Map<string, string>()
  const answered: string[] = []
  const open: Browser['open'] = async (path, { method = 'GET', headers = {}, body, env } = {}) => {
    const all = {
      host: new URL(origin).host,
      cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') || undefined,
      'sec-fetch-site': method === 'GET' ? 'none' : 'same-origin',
      ...headers,
    }
    const sent = Object.entries(all).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    )
    const init: RequestInit = {
      method,
      redirect: 'manual',
      headers: sent,
      ...(body !== undefined && { body, duplex: 'half' }),
    }
    const answer = await fetch(new Request(origin + path, init), env ?? {})
    const text = await answer.text()
    answered.push(text, JSON.stringify([...answer.headers]))
    for (const cookie of answer.headers.getSetCookie()) keep(cookies, cookie)
    const { status, headers: said } = answer
    return { status, text, headers: said, location: said.get('location') }
  }
  return {
    cookies,
    answered,
    open,
    press: (form, path, sending = {}) =>
      open(path, {
        method: 'POST',
        body: form.toString(),
        ...sending,
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...sending.headers },
      }),
    formAt: async (page, path = page) => formOf((await open(page)).text, path),
  }
}

function keep(cookies: Map<string, string>, cookie: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
  if (/max-age=0/i.test(cookie)) cookies.delete(name)
  else cookies.set(name, value)
}

/** The hidden fields of the form that posts to this path. */
export function formOf(page: string, path: string): URLSearchParams {
  const form = page
    .split('<form')
    .find((one) => one.includes('method="post"') && one.includes(`action="${path}"`))
  assert.ok(form !== undefined, `no form that posts to ${path}: ${page}`)
  const [inside = ''] = form.split('</form>')
  const fields = inside.matchAll(/type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"/g)
  return new URLSearchParams(
    [...fields].map(([, name = '', value = '']): [string, string] => [name, unescaped(value)]),
  )
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
