import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'

/** What stands in a cell. */
export type Cell = Html | string | number | false

export interface Column {
  readonly title: string
  /** Of figures: they stand to the right. */
  readonly isNumber?: boolean
}

export interface TableParts {
  /** What it lists, for whoever hears the page. */
  readonly caption: string
  readonly columns: readonly (Column | string)[]
  /** One cell a column; the first one names the row. */
  readonly rows: readonly (readonly Cell[])[]
  /** One a row, by which a page that is followed tells new rows from known ones. */
  readonly ids?: readonly string[]
  /** Instead of the table, where there is no row. */
  readonly empty: Html | string
}

/** Rows of a table; cards on a phone. */
export function table({ caption, columns, rows, ids, empty }: TableParts): Html {
  if (rows.length === 0) return html`<p class="panel">${empty}</p>`
  const described = columns.map((column) =>
    typeof column === 'string' ? { title: column } : column,
  )
  return html`<table class="rows">
    <caption class="unseen">
      ${caption}
    </caption>
    <thead>
      <tr>
        ${described.map((column) => html`<th scope="col" ${classOf(column)}>${column.title}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        (row, index) =>
          html`<tr ${rowMark(ids?.[index])}>
            ${row.map((cell, at) => cellOf(cell, at, described[at]))}
          </tr>`,
      )}
    </tbody>
  </table>`
}

function rowMark(id: string | undefined): Html | false {
  return id !== undefined && html`id="row-${id}" data-row="${id}"`
}

function cellOf(cell: Cell, at: number, column: Column = { title: '' }): Html {
  const label = html`data-label="${column.title}"`
  // In an element of its own: on a phone it stands beside its label.
  return at === 0
    ? html`<th scope="row" ${label}><span>${cell}</span></th>`
    : html`<td ${classOf(column)} ${label}><span>${cell}</span></td>`
}

function classOf({ isNumber = false }: Column): Html | false {
  return isNumber && html`class="num"`
}

/** The facts about one thing, by name. */
export function facts(entries: readonly (readonly [string, Cell])[]): Html {
  return html`<dl class="facts panel">
    ${entries.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
}
