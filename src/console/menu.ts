import { html } from 'hono/html'
import type { Html } from '../http/pages/layout.ts'

/** The pages of the menu, by the last part of their address. */
const sections = [
  ['', 'Overview'],
  ['payments', 'Payments'],
  ['subscriptions', 'Subscriptions'],
  ['invoices', 'Invoices'],
  ['calls', 'Calls'],
  ['refused', 'Refused'],
  ['reviews', 'Reviews'],
  ['failed', 'Failed'],
  ['gateways', 'Gateways'],
  ['totals', 'Totals'],
  ['endpoints', 'Endpoints'],
  ['events', 'Events'],
  ['audit', 'Audit'],
  ['settings', 'Settings'],
] as const

export type Section = (typeof sections)[number][0]

/** In a row where there is room, and folded on a phone. */
export function menu(path: string, current: Section | undefined): Html {
  const links = sections.map(([name, title]) => {
    const href = name === '' ? path : `${path}/${name}`
    const mark = name === current && html` aria-current="page"`
    return html`<a href="${href}" ${mark}>${title}</a>`
  })
  return html`<nav class="wide" aria-label="Pages">${links}</nav>
    <details class="menu">
      <summary>Menu</summary>
      <nav aria-label="Pages">
        <ul>
          ${links.map((link) => html`<li>${link}</li>`)}
        </ul>
      </nav>
    </details>`
}
