import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { number } from '../../kernel/figures.ts'

/** One colour, and one pattern, of a chart; the first stands at the bottom of each column. */
export interface Series {
  readonly title: string
  readonly tone: 'a' | 'b' | 'c'
}

export interface ChartColumn {
  /** What it is of: a time. */
  readonly title: string
  /** One a series. */
  readonly values: readonly number[]
}

export interface ChartParts {
  readonly title: string
  readonly series: readonly Series[]
  /** At most 120. */
  readonly columns: readonly ChartColumn[]
}

const width = 600
const height = 100

/** Stacked columns, drawn here: it is read without scripts, and its figures are a table below. */
export function chart({ title, series, columns }: ChartParts): Html {
  const highest = Math.max(1, ...columns.map(({ values }) => sum(values)))
  const step = width / Math.max(1, columns.length)
  return html`<svg
      class="chart"
      role="img"
      aria-label="${title}"
      viewBox="0 0 ${width} ${height}"
      preserveAspectRatio="none"
    >
      <line x1="0" x2="${width}" y1="${height}" y2="${height}" />
      ${columns.map((column, at) => columnOf(column, { series, x: at * step, step, highest }))}
    </svg>
    ${figures({ title, series, columns })}`
}

interface Drawn {
  readonly series: readonly Series[]
  readonly x: number
  readonly step: number
  readonly highest: number
}

function columnOf({ title, values }: ChartColumn, { series, x, step, highest }: Drawn): Html {
  let top = height
  const bars = values.map((value, at) => {
    const tall = value === 0 ? 0 : Math.max(1, (value / highest) * height)
    top -= tall
    const box = html`x="${rounded(x)}" y="${rounded(top)}" width="${rounded(step * 0.85)}"`
    return tall > 0 && html`<rect class="${series[at]?.tone}" ${box} height="${rounded(tall)}" />`
  })
  const said = series.map((one, at) => `${one.title} ${values[at] ?? 0}`).join(', ')
  return html`<g>
    <title>${title}: ${said}</title>
    ${bars}
  </g>`
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100)
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0)
}

/** What has no figure in any series is left out. */
function figures({ title, series, columns }: ChartParts): Html {
  const rows = columns.filter(({ values }) => sum(values) > 0)
  if (rows.length === 0) return html`<p class="soft">Nothing yet.</p>`
  return html`<details>
    <summary>As a table</summary>
    <table>
      <caption class="unseen">
        ${title}
      </caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          ${series.map((one) => html`<th scope="col" class="num">${one.title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              <th scope="row">${row.title}</th>
              ${row.values.map((value) => html`<td class="num">${number(value)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </details>`
}
