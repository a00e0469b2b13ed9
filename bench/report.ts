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
    `Intake: ${settings.connections} connections, median of ${settings.rounds} rounds of ${settings.roundMs / 1000} s`,
    '',
    ...table([
      ['', 'accepted/s', 'least-most', 'p50 ms', 'p99 ms', 'x bare', 'x trans'],
      ...intake.map((row) => [
        intakeNames[row.subject],
        ...rate(row.acceptedPerSecond),
        row.p50Ms.toFixed(1),
        row.p99Ms.toFixed(1),
        row.ofBare.toFixed(2),
        row.ofTransaction.toFixed(2),
      ]),
    ]),
    '',
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
