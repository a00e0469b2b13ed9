import { measured, type Measured } from './statistics.ts'

/** What one subject gave, and what that is of each baseline, round by round. */
export interface Figure {
  readonly subject: string
  /** By the name of what was measured: a rate, a time, a size. */
  readonly values: Readonly<Record<string, Measured>>
  /** The first value divided by the baseline's value of the same round. */
  readonly of: Readonly<Record<string, Measured>>
}

type Values = Readonly<Record<string, number>>

/** The values of each subject; in every round every subject has the same ones. */
export interface Rounds {
  add(subject: string, values: Values): void
  /** In the order in which the subjects came first. */
  figures(baselines?: readonly string[]): readonly Figure[]
}

export function createRounds(): Rounds {
  const rounds = new Map<string, Values[]>()
  const of = (subject: string) => rounds.get(subject) ?? []
  return {
    add: (subject, values) => void rounds.set(subject, [...of(subject), values]),
    figures: (baselines = []) =>
      Array.from(rounds, ([subject, own]) => ({
        subject,
        values: Object.fromEntries(
          Object.keys(own[0] ?? {}).map((name) => [
            name,
            measured(own.map((values) => values[name] ?? Number.NaN)),
          ]),
        ),
        of: Object.fromEntries(
          baselines.map((baseline) => [baseline, measured(ratios(own, of(baseline)))]),
        ),
      })),
  }
}

function ratios(own: readonly Values[], baseline: readonly Values[]): readonly number[] {
  return own.map((values, round) => firstOf(values) / firstOf(baseline[round] ?? {}))
}

function firstOf(values: Values): number {
  return Object.values(values)[0] ?? Number.NaN
}
