import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'

export type Filter =
  | {
      readonly kind: 'choice'
      readonly name: string
      readonly label: string
      /** Value and text; the first one, "any", is added. */
      readonly options: readonly (readonly [string, string])[]
    }
  | {
      readonly kind: 'text' | 'date' | 'datetime-local'
      readonly name: string
      readonly label: string
    }

/** A form whose fields are the address: what is chosen can be kept and sent on. */
export function filters(url: URL, fields: readonly Filter[]): Html {
  const isChosen = fields.some(({ name }) => url.searchParams.has(name))
  return html`<form class="filters" action="${url.pathname}">
    ${fields.map((field) => fieldOf(field, url.searchParams.get(field.name) ?? ''))}
    <button>Show</button>
    ${isChosen && html`<a class="button" href="${url.pathname}">Clear</a>`}
  </form>`
}

function fieldOf(field: Filter, chosen: string): Html {
  const { name, label } = field
  if (field.kind !== 'choice') {
    return html`<label
      >${label} <input type="${field.kind}" name="${name}" maxlength="200" value="${chosen}"
    /></label>`
  }
  const options = [['', 'any'], ...field.options] as const
  return html`<label
    >${label}
    <select name="${name}">
      ${options.map(
        ([value, text]) =>
          html`<option value="${value}" ${value === chosen && html`selected`}>${text}</option>`,
      )}
    </select></label
  >`
}

/** Rows of every list. */
export const pageSize = 50

/** What a filter says; blank means that it says nothing. */
export function chosen(url: URL, name: string): string | undefined {
  const value = url.searchParams.get(name)?.trim() ?? ''
  return value === '' ? undefined : value
}

/** One of these, or nothing: an address may say anything. */
export function chosenOf<T extends string>(
  url: URL,
  name: string,
  values: readonly T[],
): T | undefined {
  const value = chosen(url, name)
  return values.find((one) => one === value)
}

/** The same page with another value. */
export function withQuery(url: URL, changes: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(url.search)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) query.delete(name)
    else query.set(name, value)
  }
  return query.size === 0 ? url.pathname : `${url.pathname}?${query.toString()}`
}

/** Leads to the rows behind these, and back to the first. */
export function pager(url: URL, nextCursor: string | null, next = 'Next'): Html {
  const isLater = url.searchParams.has('cursor')
  if (!isLater && nextCursor === null) return html``
  return html`<nav class="actions" aria-label="Further rows">
    ${
      isLater &&
      html`<a class="button" href="${withQuery(url, { cursor: undefined })}">First page</a>`
    }
    ${
      nextCursor !== null &&
      html`<a class="button" rel="next" href="${withQuery(url, { cursor: nextCursor })}"
        >${next}</a
      >`
    }
  </nav>`
}
