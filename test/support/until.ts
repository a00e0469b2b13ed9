import { setTimeout as pause } from 'node:timers/promises'

/** The clock of the machine: a test may replace the other one. */
const now = performance.now.bind(performance)

interface Waiting {
  readonly what: string
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
    if (waited > limitMs) throw new Error(`waited ${limitMs} ms until ${what}`)
    // The longer it takes, the less often it looks: looking keeps the machine from getting there.
    await pause(everyMs ?? Math.min(Math.max(5, waited / 10), 100))
  }
}
