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
  /** How many rounds there are that nobody disturbed. */
  calm(baseline: string): number
  /**
   * In the order in which the subjects came first. Of the first baseline's calm rounds only, if
   * there is one; or of every round.
   */
  figures(baselines?: readonly string[], which?: 'calm' | 'every'): readonly Figure[]
}

/** Where a baseline has less than this share of its best speed, something else had the machine. */
const calmFrom = 0.8
/** Rounds that are run again at most. */
const mostAgain = 2

interface Repetition {
  /** Calm rounds. */
  readonly count: number
  /** None where every round counts. */
  readonly baseline: string | undefined
  readonly progress: (round: string) => void
}

/** Runs rounds, and those again in which the baseline shows that a neighbour disturbed them. */
export async function repeatRounds(
  { count, baseline, progress }: Repetition,
  run: (rounds: Rounds) => Promise<void>,
): Promise<Rounds> {
  const rounds = createRounds()
  const isDone = (run: number) =>
    baseline === undefined
      ? run === count
      : rounds.calm(baseline) >= count || run === count + mostAgain
  for (let round = 1; !isDone(round - 1); round += 1) {
    progress(round > count ? `round ${round}, for one that was disturbed` : `round ${round}`)
    await run(rounds)
  }
  return rounds
}

export function createRounds(): Rounds {
  const rounds = new Map<string, Values[]>()
  const of = (subject: string) => rounds.get(subject) ?? []
  return {
    add: (subject, values) => void rounds.set(subject, [...of(subject), values]),
    calm: (baseline) => of(baseline).filter(isCalm).length,
    figures: (baselines = [], which = 'calm') => {
      const [first = ''] = baselines
      const calm = which === 'calm' ? of(first).map(isCalm) : []
      const kept = (subject: string) => of(subject).filter((_, round) => calm[round] !== false)
      return Array.from(rounds.keys(), (subject) => figureOf(subject, { kept, baselines }))
    },
  }
}

/** Without a value there is nothing to tell a disturbance by. */
function isCalm(values: Values, _round: number, all: readonly Values[]): boolean {
  const best = Math.max(...all.map(speedOf))
  return !(speedOf(values) < best * calmFrom)
}

/** A rate is better the more it is; a time, the less. */
function speedOf(values: Values): number {
  return values['ms'] === undefined ? firstOf(values) : 1 / values['ms']
}

interface Kept {
  readonly kept: (subject: string) => readonly Values[]
  readonly baselines: readonly string[]
}

function figureOf(subject: string, { kept, baselines }: Kept): Figure {
  const own = kept(subject)
  const names = Object.keys(own[0] ?? {})
  const valuesOf = (name: string) => measured(own.map((values) => values[name] ?? Number.NaN))
  return {
    subject,
    values: Object.fromEntries(names.map((name) => [name, valuesOf(name)])),
    of: Object.fromEntries(
      baselines.map((baseline) => [baseline, measured(ratios(own, kept(baseline)))]),
    ),
  }
}

function ratios(own: readonly Values[], baseline: readonly Values[]): readonly number[] {
  return own.map((values, round) => firstOf(values) / firstOf(baseline[round] ?? {}))
}

function firstOf(values: Values): number {
  return Object.values(values)[0] ?? Number.NaN
}
