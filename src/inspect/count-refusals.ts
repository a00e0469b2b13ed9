import type { Kysely } from 'kysely'
import { countAnswersGiven } from '../database/refusals.ts'
import type { Tables } from '../database/tables.ts'
import { refusalsOf } from './refusals.ts'

/** How many callbacks were not accepted for a reason. */
export interface RefusalCount {
  /** Empty: they named no gateway that there is. */
  readonly gateway: string
  /** Why the check failed, or how they were answered. */
  readonly reason: string
  readonly count: number
}

/** Of the last 24 hours, up to a minute ago; most first. */
export async function countRefusals(
  db: Kysely<Tables>,
  gateway: string | undefined,
): Promise<readonly RefusalCount[]> {
  const answers = Map.groupBy(await countAnswersGiven(db, gateway), (one) => one.gateway)
  return [...answers]
    .flatMap(([name, own]) =>
      refusalsOf(own).map(({ reason, count }) => ({ gateway: name, reason, count })),
    )
    .toSorted((a, b) => b.count - a.count || a.gateway.localeCompare(b.gateway, 'en'))
}
