import { html } from 'hono/html'
import { actionFilters, actionNoun, type OperatorAction } from '../../wire/operator.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { given } from '../parts/given.ts'
import { chosen, filters, pager, pageSize } from '../parts/filters.ts'
import { nounFilters, nounQuery, nounTable, type Cells } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { nothing } from '../parts/values.ts'

/** What operators did, newest first. */
export async function auditPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor } = await console.core.operators.actions({
    limit: pageSize,
    ...nounQuery(url, actionFilters),
    ...given({ cursor: chosen(url, 'cursor') }),
  })
  const columns = ['at', 'operator', 'via', 'action', 'subject', 'detail', 'outcome']
  const empty = 'No operator has done anything yet.'
  return {
    title: 'Audit',
    section: 'audit',
    body: html`${filters(url, nounFilters(visit, actionFilters))}
    ${nounTable(actionNoun, data, { visit, cells, columns, empty })} ${pager(url, nextCursor)}`,
  }
}

const cells: Cells<OperatorAction> = {
  /** Outsiders can write parts of a subject. */
  subject: ({ subject }) =>
    subject === null ? nothing : html`<span class="id">${shown(subject)}</span>`,
}
