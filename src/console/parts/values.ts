import { html } from 'hono/html'
import { humanMoney } from '../../http/human-money.ts'
import type { Html } from '../../http/pages/layout.ts'
import { visibleText } from '../../http/visible-text.ts'
import { duration } from '../../kernel/figures.ts'
import type { Money } from '../../kernel/money.ts'

/** Nothing is known, or nothing applies. */
export const nothing = html`<span class="soft">–</span>`

const sameYear = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
})
const anyYear = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
})

/** UTC; the year where it is not this one. */
export function time(at: Date | null, now: Date): Html {
  if (at === null) return nothing
  const format = at.getUTCFullYear() === now.getUTCFullYear() ? sameYear : anyYear
  const iso = at.toISOString()
  return html`<time datetime="${iso}" title="${iso}">${format.format(at).replace(',', '')}</time>`
}

export function ago(at: Date, now: Date): string {
  return agoBy(now.getTime() - at.getTime())
}

/** So many milliseconds ago. */
export function agoBy(passed: number): string {
  return passed < 1_000 ? 'just now' : `${duration(passed)} ago`
}

/** With the code of its currency: `UAH 1,999.00`. */
export function amount(money: Money): Html {
  return html`<span class="num">${humanMoney(money, 'en')}</span>`
}

/** The same of what may be less than nothing. */
export function balance({ amount: sum, currency }: Money): Html {
  if (sum >= 0n) return amount({ amount: sum, currency })
  return html`<span class="num">−${humanMoney({ amount: -sum, currency }, 'en')}</span>`
}

/** Whole: an id is for copying. */
export function idText(id: string | null): Html {
  return id === null ? nothing : html`<span class="id" data-copy>${visibleText(id)}</span>`
}

/** Enough of an id to tell it from its neighbours: ours begin with their time. */
export function shortId(id: string): string {
  return `…${id.slice(-8)}`
}

/** A link by the end of an id; the whole one is its title. */
export function idLink(href: string, id: string): Html {
  return html`<a class="id" href="${href}" title="${id}">${shortId(id)}</a>`
}

export type Tone = 'good' | 'bad' | 'warn' | 'plain'

export function badge(text: string, tone: Tone): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** Whether it is real money. */
export function modeBadge(live: boolean | null): Html {
  if (live === null) return badge('mode unknown', 'plain')
  return live ? badge('LIVE', 'good') : badge('TEST', 'warn')
}
