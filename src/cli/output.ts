import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Coloured only where standard output is a terminal (and NO_COLOR is not set). */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2))
}

const terminalWidth = 80

/** Rows under headings, at most 80 columns wide: the last column gives way. */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const widths = columnWidths([headings, ...rows])
  print(styled('bold', row(headings, widths)))
  for (const cells of rows) print(row(cells, widths))
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((cells) => cells[at]?.length ?? 0)),
  )
  const last = widths.length - 1
  const used = widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0)
  return widths.with(last, Math.max(Math.min(widths[last] ?? 0, terminalWidth - used), 4))
}

function row(cells: readonly string[], widths: readonly number[]): string {
  const fitted = cells.map((cell, at) => fit(cell, widths[at] ?? cell.length))
  return fitted.join('  ').trimEnd()
}

function fit(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}

/** Minutes are enough for a table: `11-21 09:30`, UTC. */
export function shortTime(at: Date): string {
  return at.toISOString().slice(5, 16).replace('T', ' ')
}
