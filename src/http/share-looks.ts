import pLimit from 'p-limit'

/** The database connections that all pages together use for this, so that callbacks keep theirs. */
const mostAtOnce = 3

interface Look<T> {
  readonly now: Promise<T>
  next: Promise<T> | undefined
}

/**
 * Readers that ask for the same thing at once share one query. It starts after they asked, so
 * nobody gets an answer from before the question.
 */
export function shareLooks<T>(look: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const limit = pLimit(mostAtOnce)
  const underWay = new Map<string, Look<T>>()
  const begin = async (key: string): Promise<T> => {
    const own: Look<T> = { now: limit(look, key), next: undefined }
    underWay.set(key, own)
    try {
      return await own.now
    } finally {
      if (own.next === undefined) underWay.delete(key)
    }
  }
  return (key) => {
    const current = underWay.get(key)
    if (current === undefined) return begin(key)
    current.next ??= current.now.then(
      () => begin(key),
      () => begin(key),
    )
    return current.next
  }
}
