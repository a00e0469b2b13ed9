import type { Duration } from './duration.ts'

/** The work that is under way as more may begin. */
interface UnderWay {
  /** Some of it is not slow. */
  readonly isBeside: boolean
  /** How much of it is slow. */
  readonly slow: number
}

export interface KeptUnderWay {
  /** More may wait: `next` is asked at the end of the event loop's turn, once all that arrives together is there. */
  advance(): void
  /** Resolves once nothing is under way and nothing waits. */
  ended(): Promise<void>
}

/**
 * Keeps up to `most` pieces of work under way for as long as `next` begins one: the loop of every
 * batch that gathers while others are under way. Work that takes longer than `slowAfter` counts as
 * slow, and `next` is asked again.
 */
export function keepUnderWay(
  most: number,
  next: (others: UnderWay) => Promise<void> | undefined,
  slowAfter?: Duration,
): KeptUnderWay {
  const underWay = new Set<Promise<void>>()
  let slow = 0
  let isDue: NodeJS.Immediate | undefined
  const advance = () => {
    isDue ??= setImmediate(begin)
  }
  const begin = () => {
    isDue = undefined
    while (underWay.size < most) {
      const work = next({ isBeside: underWay.size > slow, slow })
      if (work === undefined) return
      const watched = (slowAfter === undefined ? work : watch(work, slowAfter)).finally(() => {
        underWay.delete(watched)
        advance()
      })
      underWay.add(watched)
    }
  }
  const watch = async (work: Promise<void>, after: Duration) => {
    let isSlow = false
    const timer = setTimeout(() => {
      isSlow = true
      slow += 1
      advance()
    }, after)
    try {
      await work
    } finally {
      clearTimeout(timer)
      if (isSlow) slow -= 1
    }
  }
  return {
    advance,
    async ended() {
      for (begin(); underWay.size > 0; begin()) await Promise.all(underWay)
    },
  }
}
