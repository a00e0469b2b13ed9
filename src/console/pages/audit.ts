import { html } from 'hono/html'
import type { OperatorAction } from '../../wire/operator.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { given } from '../parts/given.ts'
import { chosen, filters, pager, pageSize } from '../parts/filters.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { nothing, time } from '../parts/values.ts'

/** What operators did, newest first. */
export async function auditPage({ console, url }: Visit): Promise<ConsolePage> {
  const { data, nextCursor } = await console.core.operators.actions({
    limit: pageSize,
    ...given({
      cursor: chosen(url, 'cursor'),
      operator: chosen(url, 'operator'),
      subject: chosen(url, 'subject'),
    }),
  })
  const now = console.now()
  return {
    title: 'Audit',
    section: 'audit',
    body: html`${filters(url, [
      { kind: 'text', name: 'operator', label: 'Operator' },
      { kind: 'text', name: 'subject', label: 'Done to (id)' },
    ])}
    ${table({
      caption: 'What operators did, newest first',
      columns: ['At', 'Operator', 'Via', 'Action', 'Done to', 'Detail', 'Outcome'],
      rows: data.map((action) => [
        time(action.at, now),
        shown(action.operator),
        action.via,
        shown(action.action),
        action.subject === null ? nothing : html`<span class="id">${shown(action.subject)}</span>`,
        detailOf(action),
        action.outcome === null ? 'not known' : shown(action.outcome),
      ]),
      empty: 'No operator has done anything yet.',
    })}
    ${pager(url, nextCursor)}`,
  }
}

function detailOf({ detail }: OperatorAction) {
  const entries = Object.entries(detail)
  if (entries.length === 0) return nothing
  return shown(entries.map(([name, value]) => `${name}: ${String(value)}`).join(', '))
}
