import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Coloured only if standard output is a terminal (and NO_COLOR is not set). */
export function styled(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, undefined, 2))
}

/** For foreign text: what could move the cursor or reorder its neighbours is spelled out. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) =>
    character === '\n' || character === '\t'
      ? character
      : `\\u{${character.codePointAt(0)?.toString(16)}}`,
  )
}

/** What every terminal has. */
export const terminalWidth = 80

/** The minimum width of a column, so that its beginning still says something. */
const narrowest = 4

/**
 * Rows under headings, at most 80 columns wide. The columns after the first shrink, the last one
 * first; the first, which names the row, only if that is not enough. A note, for what has to be
 * read whole, is below its row.
 */
export function printTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  notes: readonly string[] = [],
): void {
  const shown = rows.map((cells) => cells.map(onOneLine))
  const widths = columnWidths([headings, ...shown])
  print(styled('bold', row(headings, widths)))
  for (const [at, cells] of shown.entries()) {
    print(row(cells, widths))
    const note = notes[at] ?? ''
    if (note !== '') for (const line of wrapped(onOneLine(note), 2)) print(`  ${line}`)
  }
}

function onOneLine(text: string): string {
  return visible(text.replaceAll(/\s/g, ' '))
}

function columnWidths(rows: readonly (readonly string[])[]): readonly number[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((cells) => cells[at]?.length ?? 0)),
  )
  for (const at of [...[...widths.keys()].slice(1).toReversed(), 0]) {
    const over = widths.reduce((sum, width) => sum + width + 2, -2) - terminalWidth
    const width = widths[at] ?? 0
    if (over > 0) widths[at] = Math.max(Math.min(width, narrowest), width - over)
  }
  return widths
}

function row(cells: readonly string[], widths: readonly number[]): string {
  const fitted = cells.map((cell, at) => fit(cell, widths[at] ?? cell.length))
  return fitted.join('  ').trimEnd()
}

function fit(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}

/** The text in lines that end at column 80 with this indentation. */
export function wrapped(text: string, indent: number): readonly string[] {
  const width = terminalWidth - indent
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines.splice(-1, 1, `${last} ${word}`)
    } else {
      // A URL may be longer than a line.
      for (let at = 0; at === 0 || at < word.length; at += width) {
        lines.push(word.slice(at, at + width))
      }
    }
  }
  return lines
}

/** Minutes are enough for a table: `11-21 09:30`, UTC. */
export function shortTime(at: Date): string {
  return at.toISOString().slice(5, 16).replace('T', ' ')
}
