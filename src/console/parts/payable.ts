import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { fieldError } from '../../kernel/errors.ts'
import type { Payable } from '../../payments/payment.ts'
import type { Visit } from '../context.ts'
import { chosen } from './filters.ts'
import { shown } from './shown.ts'

/** What something is for; it leads to the merchant's own page of it, where there is one. */
export function payableOf({ links }: Visit['console'], payable: Payable): Html {
  const text = shown(`${payable.type} ${payable.id}`)
  const href = links.payable?.(payable)
  // Of an app's own making, but what it is made of is not: nothing but a page is linked.
  const url = href === undefined ? null : URL.parse(href)
  const isPage = url !== null && /^https?:$/.test(url.protocol)
  return isPage ? html`<a href="${url.href}">${text}</a>` : html`${text}`
}

/** `account:7`, or as the pages show it, `account 7`; undefined: the filter says nothing. */
export function chosenPayable(url: URL): Payable | undefined {
  const text = chosen(url, 'payable')
  if (text === undefined) return undefined
  const [, type, id] = /^([^:\s]+)[:\s]\s*(.+)$/.exec(text) ?? []
  if (type !== undefined && id !== undefined) return { type, id }
  throw fieldError('query_invalid', 'for', 'must be a type and an id, such as account:7')
}

/** The field that it is typed in. */
export const payableFilter = {
  kind: 'text',
  name: 'payable',
  label: 'For: type and id, like account:7',
} as const
