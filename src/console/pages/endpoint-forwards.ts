import { html } from 'hono/html'
import { forwardStates } from '../../events/endpoint.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { chosen, chosenOf, filters, pager, pageSize } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { forwardsOf } from './endpoint.ts'

/** Events that did not go to an endpoint at first, or were sent again. */
export async function endpointForwardsPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params, url } = visit
  const { endpoints } = console.core
  const found = await endpoints.get(params['name'] ?? '')
  if (found === undefined) return undefined
  const query = given({
    cursor: chosen(url, 'cursor'),
    state: chosenOf(url, 'state', forwardStates),
  })
  const page = await listed(() => endpoints.forwards(found.id, { limit: pageSize, ...query }))
  return {
    status: page.status,
    title: `Sent again to ${found.name}`,
    section: 'endpoints',
    beside: html`<span class="actions">
      <a class="button" href="${console.path}/endpoints/${found.name}">To the endpoint</a>
    </span>`,
    body: html`${filters(url, [
      {
        kind: 'choice',
        name: 'state',
        label: 'State',
        options: forwardStates.map((state) => [state, state]),
      },
    ])}
    ${page.fault} ${page.fault === false && forwardsOf(visit, found, page.data)}
    ${pager(url, page.nextCursor)}`,
  }
}
