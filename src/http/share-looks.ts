import pLimit from 'p-limit'
import { shareRuns } from '../kernel/share-runs.ts'

/** The database connections that all pages together use for this, so that callbacks keep theirs. */
const mostAtOnce = 3

/** Readers that ask for the same thing at once share one query. */
export function shareLooks<T>(look: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const limit = pLimit(mostAtOnce)
  return shareRuns((key) => limit(look, key)).ask
}
