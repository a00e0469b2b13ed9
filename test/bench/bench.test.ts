import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { formatReport, type Report } from '../../bench/report.ts'

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url))

test('the bench measures every subject, finds every call stored and processed once', async () => {
  const server = process.env['QUITTANCE_TEST_POSTGRES']
  const env = { ...process.env, ...(server !== undefined && { DATABASE_URL: server }) }
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--quick', '--json'], {
    env,
  })
  // Wrong counts, and callbacks that are not answered 200, end the bench with an error.
  const report = JSON.parse(stdout) as Report
  assert.deepEqual(
    report.intake.map(({ connections, subject }) => `${connections} ${subject}`),
    report.settings.connections.flatMap((connections) =>
      ['bare', 'transaction', 'pg-boss', 'PostgreSQL', 'embedded'].map(
        (subject) => `${connections} ${subject}`,
      ),
    ),
  )
  assert.deepEqual(
    report.processing.map(({ subject, listener }) => `${subject}, ${listener}`),
    [
      'plain, none',
      'PostgreSQL, none',
      'PostgreSQL, in transaction',
      'PostgreSQL, queued',
      'embedded, none',
      'embedded, in transaction',
      'embedded, queued',
    ],
  )
  const rates = [
    ...report.intake.map((row) => row.acceptedPerSecond),
    ...report.processing.map((row) => row.perSecond),
  ]
  for (const { least, median, most } of rates) {
    assert.ok(least > 0 && least <= median && median <= most && most < Infinity)
  }
  const lines = formatReport(report).split('\n')
  assert.equal(lines.filter((line) => /^(?:serve|work), /.test(line)).length, 10)
  assert.ok(lines.every((line) => line.length <= 80))
})
