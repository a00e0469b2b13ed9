import type { IntakeRow, IntakeSubject } from './intake.ts'
import type { Machine } from './machine.ts'
import type { ListenerKind, ProcessingRow, ProcessingSubject } from './processing.ts'
import type { Settings } from './settings.ts'
import type { Measured } from './statistics.ts'

export interface Report {
  readonly machine: Machine
  readonly settings: Settings
  readonly intake: readonly IntakeRow[]
  readonly processing: readonly ProcessingRow[]
}

const intakeNames: Readonly<Record<IntakeSubject, string>> = {
  bare: 'bare node:http',
  transaction: 'a transaction each',
  'pg-boss': 'and a pg-boss job',
  PostgreSQL: 'serve, PostgreSQL',
  embedded: 'serve, embedded',
}

const processingNames: Readonly<Record<ProcessingSubject, string>> = {
  plain: 'a transaction each',
  PostgreSQL: 'work, PostgreSQL',
  embedded: 'serve, embedded',
}

const listenerNames: Readonly<Record<ListenerKind, string>> = {
  none: 'none',
  'in transaction': 'inserts a row',
  queued: 'queued',
}

/** The report as tables that fit 80 columns. */
export function formatReport({ machine, settings, intake, processing }: Report): string {
  return [
    `Node ${machine.node}, PostgreSQL ${machine.postgres} (${machine.durability})`,
    `${machine.cores} cores, ${machine.processor}`,
    `load before ${machine.load.toFixed(2)}, a synced write of 8 KB ${machine.syncMs.toFixed(2)} ms`,
    '',
    ...settings.connections.flatMap((connections) => [
      `Intake: ${connections} senders, median of ${settings.rounds} rounds of ${settings.roundMs / 1000} s`,
      '',
      ...intakeTable(intake.filter((row) => row.connections === connections)),
      '',
    ]),
    `Processing: a backlog of ${settings.backlog.postgres} calls (embedded: ${settings.backlog.embedded}), one worker, median of ${settings.backlogRounds}`,
    '',
    ...table([
      ['', 'listener', 'calls/s', 'least-most', 'x trans'],
      ...processing.map((row) => [
        processingNames[row.subject],
        listenerNames[row.listener],
        ...rate(row.perSecond),
        row.ofPlain.toFixed(2),
      ]),
    ]),
    '',
  ].join('\n')
}

function intakeTable(rows: readonly IntakeRow[]): readonly string[] {
  return table([
    ['', 'calls/s', 'least-most', 'p50/p99 ms', 'x bare', 'x trans', 'x boss'],
    ...rows.map((row) => [
      intakeNames[row.subject],
      ...rate(row.acceptedPerSecond),
      `${milliseconds(row.p50Ms)}/${milliseconds(row.p99Ms)}`,
      row.ofBare.toFixed(2),
      row.ofTransaction.toFixed(2),
      row.ofPgBoss.toFixed(2),
    ]),
  ])
}

function milliseconds(value: number): string {
  return value.toFixed(value < 100 ? 1 : 0)
}

function rate({ median, least, most }: Measured): readonly string[] {
  return [whole(median), `${whole(least)}-${whole(most)}`]
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en')
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
