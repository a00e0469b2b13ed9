import assert from 'node:assert/strict'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { runHosted } from '../support/command-host.ts'
import { freePort, type ProcessOptions } from '../support/process.ts'

export interface Report {
  readonly code: number | null
  readonly findings: readonly Finding[]
  /** The only finding of this check. */
  of(check: string): Finding
  /** Everything printed. */
  readonly text: string
}

/** Runs `quittance doctor --json`, hosted. */
export async function doctor(options: ProcessOptions): Promise<Report> {
  // Whatever listens on the default port of this machine is none of the test's business.
  const env = { PORT: String(await freePort()), ...options.env }
  const ending = await runHosted(['doctor', '--json'], { ...options, env })
  const { code, stdout, stderr } = ending
  const text = stdout.join('\n')
  assert.ok(stderr.length === 0 && text !== '', `no report: ${JSON.stringify(ending)}`)
  const report = JSON.parse(text) as { ok: boolean; errors: number; findings: readonly Finding[] }
  const { findings } = report
  assert.equal(report.errors, findings.filter(({ state }) => state === 'error').length)
  assert.deepEqual([code, report.ok], report.errors === 0 ? [0, true] : [1, false])
  const of = (check: string) => {
    const [found, ...rest] = findings.filter((finding) => finding.check === check)
    assert.ok(found !== undefined && rest.length === 0, `${check}: ${text}`)
    return found
  }
  return { code, findings, of, text }
}

export function assertFinding(finding: Finding, state: Finding['state'], pattern: RegExp): void {
  assert.equal(finding.state, state, JSON.stringify(finding))
  assert.match(`${finding.found} — ${finding.fix ?? ''}`, pattern)
}
