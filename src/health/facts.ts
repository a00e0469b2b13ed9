import type { Fact, Look, Severity } from './fact.ts'
import { moneyFacts } from './money-facts.ts'
import { workFacts } from './work-facts.ts'

/**
 * Everything that can be wrong with the work. `/readyz`, `doctor`, the problems of an overview, the
 * gauges and the alerts derive from these rows. A new fact is one more row.
 */
const facts = [...workFacts, ...moneyFacts] as const

type FoundOf<F> = F extends {
  readonly kind: infer Kind
  find(look: Look): Promise<readonly (infer Found)[]>
}
  ? { readonly kind: Kind } & Readonly<Found>
  : never

/** Something that a person should see to, with its figures; counts end at 10,001. */
export type Problem = FoundOf<(typeof facts)[number]> & {
  readonly severity: Severity
  /** What is wrong. Foreign names stand in it. */
  readonly text: string
  readonly fix: string
  /** The page of the console that shows it. */
  readonly page: { readonly path: string; readonly title: string }
}

/** The same rows, each without the type of what it finds. */
export const allFacts = facts as readonly unknown[] as readonly Fact[]
