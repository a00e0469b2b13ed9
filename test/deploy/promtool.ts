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

interface Answer {
  readonly ok: boolean
  readonly said: string
}

/** What it says, and whether all is well. */
export function promtool(...args: readonly string[]): Answer {
  return promtoolOf('', ...args)
}

/** The same of what it reads. */
export function promtoolOf(input: string, ...args: readonly string[]): Answer {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input })
  return { ok: status === 0, said: stdout + stderr }
}
