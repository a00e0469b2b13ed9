import { html } from 'hono/html'
import type { Page } from '../../database/page.ts'
import type { Html } from '../../http/pages/layout.ts'
import { failureOf } from '../refusals.ts'

/** Rows of a list, or why what its filters say cannot be looked up. */
export interface Listed<T> extends Page<T> {
  readonly fault: Html | false
  readonly status: number
}

/** What an address asks for may be no question at all: the page says so, and keeps its filters. */
export async function listed<T>(read: () => Promise<Page<T>>): Promise<Listed<T>> {
  try {
    return { ...(await read()), fault: false, status: 200 }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || failure.status >= 500) throw error
    const fault = html`<p class="fault" role="alert">${failure.text}</p>`
    return { data: [], nextCursor: null, fault, status: failure.status }
  }
}
