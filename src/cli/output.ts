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

/** A fact on its line. Several lines stand below its label: none looks like another fact. */
export function printFact(label: string, text: string, width = 12): void {
  const said = text.includes('\n') ? [label, ...text.split('\n')].join('\n  ') : undefined
  print(visible(said ?? label.padEnd(width) + text))
}

/** What every terminal has. */
export const terminalWidth = 80

/** The minimum width of a column, so that its beginning still says something. */
const narrowest = 4

interface Table {
  readonly headings: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Further columns, which have to be read whole. */
  readonly notes?: Pick<Table, 'headings' | 'rows'>
}

/** Rows under headings: within a terminal's width, whole elsewhere. */
export function printTable(table: Table): void {
  const { isTTY, columns } = process.stdout
  // Some terminals, e.g. in containers, do not know their width.
  const width = columns > terminalWidth ? columns : terminalWidth
  const [headings = '', ...lines] = tableLines(table, isTTY ? width : undefined)
  print(styled('bold', headings))
  for (const line of lines) print(line)
}

/**
 * Within a width, the columns after the first shrink, the last one first; the first, which names the
 * row, only if that is not enough; notes are below their row. Without one nothing is cut, and a row
 * is one line, notes and all: a program reads it.
 */
export function tableLines(
  { headings, rows, notes = noNotes }: Table,
  width: number | undefined,
): readonly string[] {
  const isWhole = width === undefined
  const heads = isWhole ? [...headings, ...notes.headings] : headings
  const cells = isWhole ? rows.map((row, at) => [...row, ...(notes.rows[at] ?? [])]) : rows
  const shown = [heads, ...cells.map((row) => row.map(onOneLine))]
  const widths = columnWidths(shown, width ?? Infinity)
  return shown.flatMap((row, at) => {
    const line = lineOf(row, widths)
    // The first row is that of the headings.
    return isWhole ? line : [line, below(notes.rows[at - 1] ?? [], width)].flat()
  })
}

const noNotes = { headings: [], rows: [] }

function below(notes: readonly string[], width: number): readonly string[] {
  const text = notes.filter((note) => note !== '').join(' ')
  return text === '' ? [] : wrapped(onOneLine(text), 2, width).map((line) => `  ${line}`)
}

function onOneLine(text: string): string {
  return visible(text.replaceAll(/\s/g, ' '))
}

function columnWidths(rows: readonly (readonly string[])[], most: number): readonly number[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((cells) => cells[at]?.length ?? 0)),
  )
  for (const at of [...[...widths.keys()].slice(1).toReversed(), 0]) {
    const over = widths.reduce((sum, width) => sum + width + 2, -2) - most
    const width = widths[at] ?? 0
    if (over > 0) widths[at] = Math.max(Math.min(width, narrowest), width - over)
  }
  return widths
}

function lineOf(cells: readonly string[], widths: readonly number[]): string {
  const fitted = cells.map((cell, at) => fit(cell, widths[at] ?? cell.length))
  return fitted.join('  ').trimEnd()
}

function fit(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}

/** The text in lines that, with this indentation, end within the width. */
export function wrapped(
  text: string,
  indent: number,
  within: number = terminalWidth,
): readonly string[] {
  const width = within - indent
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
