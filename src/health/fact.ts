import type { Kysely } from 'kysely'
import type { Database } from '../database/connect.ts'
import { mostCounted } from '../database/count-up-to.ts'
import { databaseNow } from '../database/now.ts'
import { readManyInOrder, type ReadInOrder } from '../database/read-in-order.ts'
import type { Tables } from '../database/tables.ts'
import { count, duration, number } from '../kernel/figures.ts'

/** `error`: payments are at stake now. `warning`: look today. `info`: when there is time. */
export type Severity = 'error' | 'warning' | 'info'
const severities: readonly Severity[] = ['error', 'warning', 'info']

/** What a look is given. */
export interface Look {
  /** Names of the gateways that are known here. */
  readonly gateways: readonly string[]
  /** By the database's clock, as the times of its rows are. */
  readonly now: Date
  /** Reads in the order of indexes, and once, however many facts need it. */
  ask<T>(read: (db: Kysely<Tables>) => Promise<T>): Promise<T>
}

/** One read after the other: no more than one connection is busy with it. */
export function lookInto<T>(
  database: Database,
  gateways: readonly string[],
  work: (look: Look) => Promise<T>,
): Promise<T> {
  return readManyInOrder(database, async (inOrder) => {
    return work(lookBy(inOrder, { gateways, now: await inOrder(databaseNow) }))
  })
}

export function lookBy(inOrder: ReadInOrder, given: Omit<Look, 'ask'>): Look {
  const answers = new Map<unknown, Promise<unknown>>()
  return {
    ...given,
    ask<T>(read: (db: Kysely<Tables>) => Promise<T>): Promise<T> {
      const answer = (answers.get(read) as Promise<T> | undefined) ?? inOrder(read)
      answers.set(read, answer)
      return answer
    },
  }
}

type Figures = Readonly<Record<string, unknown>>
/** As words: `...Seconds` and times are how long ago, `until` is a time to come, null is nothing. */
type Texts<Found> = { readonly [Name in keyof Found]: string }

/** An alert of Prometheus. */
export interface Alert {
  readonly name: string
  /** How long it must be so before the alert fires. */
  readonly for: string
  /** Which of the thresholds, if there are several. */
  readonly severity?: Severity
  /** The metric that is compared with the threshold; left out: the gauge of the fact. */
  readonly metric?: string
  /** What Prometheus evaluates instead of a comparison. */
  readonly expr?: string
  /** What holds for the alert alone. */
  readonly note?: string
  /** The page and the heading of the docs that tell more. */
  readonly docs: string
}

/** Something about the work that can be wrong, and all that is said of it anywhere. */
export interface Fact<Kind extends string = string, Found extends object = Figures> {
  readonly kind: Kind
  /** What there is to judge. Each statement is bounded by an index. */
  find(look: Look): Promise<readonly Found[]>
  /** The figure that thresholds and alerts compare, and the gauge shows. */
  readonly value?: keyof Found & string
  /** How bad it is, or beyond which value. */
  readonly severity: Severity | { readonly [Level in Severity]?: number }
  /** What is wrong. An alert has its labels and its value for the figures, and no others. */
  says(texts: Texts<Found>): string
  /** What operators are told besides. */
  more?(texts: Texts<Found>, found: Found): readonly string[]
  fix(texts: Texts<Found>): string
  /** The check of `doctor`; null: it has one of its own. */
  readonly check: string | null
  /** What the check says if nothing is wrong. */
  well(found: readonly Found[]): string
  /** The page of the console that shows it, and its name. */
  page(found: Found): readonly [path: string, title: string]
  /** `/readyz` says it: an error makes it 503. What stands in `more` is not for everybody. */
  readonly isReadiness?: true
  readonly gauge?: {
    readonly name: string
    readonly help: string
    /** The figure that each label shows. */
    readonly labels?: Readonly<Record<string, keyof Found & string>>
  }
  readonly alerts?: readonly Alert[]
}

export function fact<const Kind extends string, Found extends object>(
  row: Fact<Kind, Found>,
): Fact<Kind, Found> {
  return row
}

/** A figure that is wrong, in words. */
export interface Judged {
  readonly severity: Severity
  /** For everybody. */
  readonly says: string
  /** The same with what operators are told besides. */
  readonly text: string
  readonly fix: string
  readonly found: Figures
}

/** What is wrong of it, and what else was found. */
export async function judge<Found extends object>(
  row: Fact<string, Found>,
  look: Look,
): Promise<{ readonly wrong: readonly Judged[]; readonly well: string }> {
  const all = await row.find(look)
  const wrong = all.flatMap((found) => {
    const severity = severityOf(row, row.value === undefined ? undefined : found[row.value])
    if (severity === undefined) return []
    const texts = textsOf(found, look.now)
    const says = row.says(texts)
    const more = (row.more?.(texts, found) ?? []).filter((part) => part !== '')
    const text = [says, ...more].join(', ')
    return [{ severity, says, text, fix: row.fix(texts), found: found as Figures }]
  })
  return { wrong, well: row.well(all) }
}

function severityOf({ severity }: Pick<Fact, 'severity'>, figure: unknown): Severity | undefined {
  if (typeof severity === 'string') return severity
  return severities.find((level) => Number(figure) > (severity[level] ?? Infinity))
}

function textsOf<Found extends object>(found: Found, now: Date): Texts<Found> {
  const texts = Object.entries(found).map(([name, figure]) => [name, textOf(name, figure, now)])
  return Object.fromEntries(texts) as Texts<Found>
}

function textOf(name: string, figure: unknown, now: Date): string {
  if (figure instanceof Date) {
    return name === 'until' ? figure.toISOString() : duration(now.getTime() - figure.getTime())
  }
  if (typeof figure !== 'number') return typeof figure === 'string' ? figure : ''
  if (name.endsWith('Seconds')) return duration(figure * 1_000)
  if (name === 'share') return `${Math.round(figure * 100)} %`
  // Places in the feed and sums of counters go further than counts of rows.
  return figure === mostCounted ? count(figure) : number(figure)
}

/** The most urgent first; of equal ones, in the order of the table. */
export function mostUrgentFirst<T extends { readonly severity: Severity }>(all: readonly T[]) {
  const rank = ({ severity }: T) => severities.indexOf(severity)
  return all.toSorted((a, b) => rank(a) - rank(b))
}
