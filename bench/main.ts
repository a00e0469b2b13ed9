/** Runs the whole bench: see README.md beside this file. */
import { parseArgs } from 'node:util'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { drawChart } from './chart.ts'
import { describeMachine } from './machine.ts'
import { setVariable } from '../test/support/set-variable.ts'
import { areas, isAreaName, type Section } from './areas.ts'
import { openServer } from './postgres.ts'
import { formatReport, type Report } from './report.ts'
import { full, quick } from './settings.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    svg: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
  },
})
/** The picture in the README. */
const chartFile = new URL('figures.svg', import.meta.url)
const settings = values.quick ? quick : full
const progress = (text: string) => void process.stderr.write(`${text}\n`)
const unknown = values.only.find((name) => !isAreaName(name))
if (unknown !== undefined) {
  progress(`--only ${unknown}: there is no such part; there are ${Object.keys(areas).join(', ')}`)
  process.exit(2)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const folder = await mkdtemp(join(tmpdir(), 'quittance-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const server = await openServer(setVariable('DATABASE_URL'))
const machine = describeMachine(server, folder)
const sections: Section[] = []
try {
  const options = { server, settings, folder, progress }
  for (const [name, bench] of Object.entries(areas)) {
    if (values.only.length === 0 || values.only.includes(name)) {
      sections.push(...(await bench(options)))
    }
  }
  if (values.svg) writeFileSync(chartFile, drawChart({ machine, settings, sections }))
} finally {
  // Also what was measured before something failed.
  const report: Report = { machine, settings, sections }
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : formatReport(report))
  await server.close()
}
