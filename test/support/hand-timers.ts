/** Timers that strike when a test says so. */
export interface HandTimers extends Disposable {
  /** Their length, which no other timer has. */
  readonly lengthMs: number
  /** How many were started. */
  readonly started: number
  /** How many run. */
  readonly running: number
  /** Those that run strike now; during the call the clock is ahead by their length. */
  strike(): void
}

interface Kind {
  readonly running: Map<unknown, () => void>
  started: number
}

const kinds = new Map<number, Kind>()
/** Puts the real timers back, while others are in their place. */
let restore: (() => void) | undefined
/** For what runs now. */
let passed = 0
let made = 0

/** Without a length they have one that is far longer than a test waits. */
export function handTimers(length?: number): HandTimers {
  const lengthMs = length ?? 120_000 + (made += 1)
  const kind: Kind = { running: new Map(), started: 0 }
  kinds.set(lengthMs, kind)
  restore ??= replaceTimers()
  return {
    lengthMs,
    get started() {
      return kind.started
    },
    get running() {
      return kind.running.size
    },
    strike() {
      const struck = [...kind.running]
      kind.running.clear()
      passed = lengthMs
      try {
        for (const [timer, run] of struck) {
          clearTimeout(timer as NodeJS.Timeout)
          run()
        }
      } finally {
        passed = 0
      }
    },
    [Symbol.dispose]() {
      kinds.delete(lengthMs)
      if (kinds.size > 0) return
      restore?.()
      restore = undefined
    },
  }
}

/** All have the real length: those of a kind that no test strikes end as ever. */
function replaceTimers(): () => void {
  const { setTimeout, clearTimeout } = globalThis
  const { now } = performance
  const real = setTimeout as unknown as (...all: readonly unknown[]) => unknown
  const start = (run: () => void, ms?: number, ...more: readonly unknown[]) => {
    const kind = kinds.get(ms ?? 0)
    const timer = real(run, ms, ...more)
    if (kind === undefined) return timer
    kind.started += 1
    kind.running.set(timer, run)
    return timer
  }
  const clear = (timer?: NodeJS.Timeout) => {
    for (const { running } of kinds.values()) running.delete(timer)
    clearTimeout(timer)
  }
  Object.assign(globalThis, {
    setTimeout: Object.assign(start, setTimeout),
    clearTimeout: clear,
  })
  Object.assign(performance, { now: () => now.call(performance) + passed })
  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout })
    Object.assign(performance, { now })
  }
}
