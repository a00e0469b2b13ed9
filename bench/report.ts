import type { Section } from './areas.ts'
import type { Machine } from './machine.ts'
import type { Figure } from './rounds.ts'
import type { Settings } from './settings.ts'
import type { Measured } from './statistics.ts'

export interface Report {
  readonly machine: Machine
  readonly settings: Settings
  readonly sections: readonly Section[]
}

/** The report as tables: medians, the spread of the first value, ratios within the same round. */
export function formatReport({ machine, sections }: Report): string {
  return [
    `Node ${machine.node}, PostgreSQL ${machine.postgres} (${machine.durability})`,
    `${machine.cores} cores, ${machine.processor}`,
    `load before ${machine.load.toFixed(2)}, a synced write of 8 KB ${machine.syncMs.toFixed(2)} ms`,
    '',
    ...sections.flatMap(({ title, figures }) => [title, '', ...tableOf(figures), '']),
  ].join('\n')
}

function tableOf(figures: readonly Figure[]): readonly string[] {
  const [first] = figures
  if (first === undefined) return []
  const [main = '', ...others] = Object.keys(first.values)
  const baselines = Object.keys(first.of)
  return table([
    ['', main, 'least-most', ...others, ...baselines.map((name) => `x ${name}`)],
    ...figures.map(({ subject, values, of }) => [
      subject,
      ...spread(values[main]),
      ...others.map((name) => short(values[name]?.median)),
      ...baselines.map((name) => of[name]?.median.toFixed(2) ?? ''),
    ]),
  ])
}

function spread(measured: Measured | undefined): readonly string[] {
  return [short(measured?.median), `${short(measured?.least)}-${short(measured?.most)}`]
}

function short(value = Number.NaN): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')
}

/** The first column to the left, the others to the right. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
