import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import type { Visit } from '../context.ts'
import type { Section } from '../menu.ts'
import { idLink, nothing } from './values.ts'
import { shown } from './shown.ts'

/** To a page about something with an id. */
export function linkTo({ console }: Visit, section: Section, id: string | null): Html {
  return id === null ? nothing : idLink(`${console.path}/${section}/${id}`, id)
}

/** To a page outside of the console: shown whole, because it says where it leads. */
export function outwards(href: string): Html {
  const isPage = /^https?:$/.test(URL.parse(href)?.protocol ?? '')
  return isPage ? html`<a href="${href}" rel="noreferrer">${shown(href)}</a>` : html`${shown(href)}`
}
