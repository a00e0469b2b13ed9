import { setTimeout as pause } from 'node:timers/promises'

/** The clock of the machine: a test may replace the other one. */
const now = performance.now.bind(performance)

interface Waiting {
  /** What is waited for; as a function, said only when it has not come. */
  readonly what: string | (() => string)
  readonly limitMs?: number
  /** For what holds for a moment only. */
  readonly everyMs?: number
}

/** Only ends a test that fails: a machine with much else to do is ten times as slow as a quiet one. */
const mostMs = 120_000

/** Waits until the condition holds; fails with what was waited for. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, limitMs = mostMs, everyMs }: Waiting,
): Promise<void> {
  const began = now()
  while (!(await condition())) {
    const waited = now() - began
    if (waited > limitMs) {
      const missing = typeof what === 'string' ? what : what()
      throw new Error(`waited ${limitMs} ms until ${missing}`)
    }
    // The longer it takes, the less often it looks: looking keeps the machine from getting there.
    await pause(everyMs ?? Math.min(Math.max(5, waited / 10), 100))
  }
}
