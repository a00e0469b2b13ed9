import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Report } from '../../bench/report.ts'

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url))

/** Runs the bench as a person does. */
export const measure = (...args: readonly string[]) => {
  const server = process.env['QUITTANCE_TEST_POSTGRES']
  const env = { ...process.env, ...(server !== undefined && { DATABASE_URL: server }) }
  return promisify(execFile)(process.execPath, [main, ...args], { env })
}

/** Wrong counts, and callbacks that are not answered 200, end the bench with an error. */
export async function report(areas: readonly string[]): Promise<Report> {
  const only = areas.flatMap((area) => ['--only', area])
  const { stdout } = await measure('--quick', '--json', ...only)
  return JSON.parse(stdout) as Report
}

export function assertMeasured({ sections }: Report): void {
  const without = sections.flatMap(({ figures }) =>
    figures.filter(({ subject }) => subject !== 'J' && !subject.startsWith('P:')),
  )
  for (const { values } of without) {
    for (const { least, median, most } of Object.values(values)) {
      assert.ok(least > 0 && least <= median && median <= most && most < Infinity)
    }
  }
}

export function subjectsIn({ sections }: Report) {
  return sections.map(({ title, figures }) => [title, figures.map(({ subject }) => subject)])
}
