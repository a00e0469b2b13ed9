import { spawnSync } from 'node:child_process'

/** Prometheus's own checker. Why it cannot be run; a reason skips its tests, loudly. */
export const missingPromtool: string | false = look()

function look(): string | false {
  if (spawnSync('promtool', ['--version'], { stdio: 'ignore' }).status === 0) return false
  const missing = "NO PROMTOOL: install Debian's package prometheus"
  if (process.env['CI'] === 'true') throw new Error(missing)
  process.stderr.write(`\n${missing}\n\n`)
  return missing
}

/** What it says, and whether all is well. */
export function promtool(...args: readonly string[]): {
  readonly ok: boolean
  readonly said: string
} {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { ok: status === 0, said: stdout + stderr }
}
