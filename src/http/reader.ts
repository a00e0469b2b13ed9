import type { Context } from 'hono'

const mark = 'quittance:reader'

/** Whoever asks may only read. */
export function markReader(c: Context): void {
  c.set(mark, true)
}

/** Whether whoever asks may only read: some of what is shown is as good as a password. */
export function isReader(c: Context): boolean {
  return c.get(mark) === true
}
