import assert from 'node:assert/strict'
import { until } from '../support/until.ts'

/** What a payer's browser shows. */
export interface Shown {
  readonly url: string
  readonly status: number
  readonly text: string
}

/** A browser without JavaScript: it keeps cookies, presses buttons and follows links. */
export interface Browser {
  open(url: string | URL, init?: RequestInit): Promise<Shown>
  /** Presses a button of the page, the first or the one that says so or has that value. */
  press(shown: Shown, button?: string): Promise<Shown>
  /** Follows a link of the page, by what it says. */
  follow(shown: Shown, words: RegExp): Promise<Shown>
  /** The page again and again, as a payer does, until it says so. */
  reload(shown: Shown, words: RegExp): Promise<Shown>
}

export function openBrowser(): Browser {
  const cookies = new Map<string, string>()
  const open = async (url: string | URL, init: RequestInit = {}): Promise<Shown> => {
    const headers = new Headers(init.headers)
    headers.set('cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const target = answer.headers.get('location')
    const text = await answer.text()
    if (target === null) return { url: String(url), status: answer.status, text }
    return open(new URL(target, url))
  }
  return {
    open,
    press: (shown, button) => submit(shown, { button, open }),
    follow({ url, text }, words) {
      const links = [...text.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)]
      const [, target] = links.find(([, , said = '']) => words.test(said)) ?? []
      assert.ok(target !== undefined, `${url} has no link ${words}:\n${text}`)
      return open(new URL(plain(target), url))
    },
    async reload({ url }, words) {
      let shown = await open(url)
      const says = async () => words.test((shown = await open(url)).text)
      await until(says, { what: () => `${url} says ${words}:\n${shown.text}` })
      return shown
    },
  }
}

interface Pressing {
  readonly button: string | undefined
  readonly open: Browser['open']
}

/** Posts what the button's form holds, and goes to where that leads. */
function submit({ url, text }: Shown, { button, open }: Pressing): Promise<Shown> {
  for (const [form = ''] of text.matchAll(/<form\b[^]*?<\/form>/g)) {
    const buttons = [...form.matchAll(/(<button\b[^>]*>)([^<]*)/g)]
    const pressed = buttons.find(
      ([, tag = '', says]) =>
        button === undefined || [says, attribute(tag, 'value')].includes(button),
    )
    if (pressed === undefined) continue
    const [head = ''] = /^<form[^>]*>/.exec(form) ?? []
    const inputs = Array.from(form.matchAll(/<input\b[^>]*>/g), ([tag]) => tag)
    const fields = new FormData()
    for (const tag of [...inputs, pressed[1] ?? '']) {
      const name = attribute(tag, 'name')
      if (name !== undefined) fields.append(name, attribute(tag, 'value') ?? '')
    }
    for (const [, tag = '', option = ''] of form.matchAll(
      /(<select\b[^>]*>)\s*(<option\b[^>]*>)/g,
    )) {
      fields.append(attribute(tag, 'name') ?? '', attribute(option, 'value') ?? '')
    }
    const multipart = /multipart/.test(head)
    const body = multipart ? fields : new URLSearchParams([...fields] as [string, string][])
    const action = new URL(attribute(head, 'action') ?? '', url)
    // As browsers say it; Next.js compares it with the host.
    return open(action, { method: 'POST', body, headers: { origin: action.origin } })
  }
  return assert.fail(
    `${url} has no such button${button === undefined ? '' : `, ${button}`}:\n${text}`,
  )
}

function attribute(tag: string, name: string): string | undefined {
  const [, value] = new RegExp(` ${name}="([^"]*)"`, 'i').exec(tag) ?? []
  return value === undefined ? undefined : plain(value)
}

function plain(text: string): string {
  return text.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&amp;', '&')
}
