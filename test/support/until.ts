import { setTimeout as pause } from 'node:timers/promises'

interface Waiting {
  readonly what: string
  readonly limitMs?: number
  /** For what holds for a moment only. */
  readonly everyMs?: number
}

/** Waits until the condition holds; fails with what was waited for. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { what, limitMs = 15_000, everyMs }: Waiting,
): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    const waited = performance.now() - began
    if (waited > limitMs) throw new Error(`waited ${limitMs} ms until ${what}`)
    // The longer it takes, the less often it looks: looking keeps the machine from getting there.
    await pause(everyMs ?? Math.min(Math.max(5, waited / 10), 100))
  }
}
