/** Runs the whole bench: see README.md beside this file. */
import { parseArgs } from 'node:util'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchIntake } from './intake.ts'
import { describeMachine } from './machine.ts'
import { setVariable } from '../test/support/set-variable.ts'
import { openServer } from './postgres.ts'
import { benchProcessing } from './processing.ts'
import { formatReport, type Report } from './report.ts'
import { full, quick } from './settings.ts'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const settings = values.quick ? quick : full
const progress = (text: string) => void process.stderr.write(`${text}\n`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const folder = await mkdtemp(join(tmpdir(), 'quittance-bench-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))

const server = await openServer(setVariable('DATABASE_URL'))
try {
  const options = { server, settings, folder, progress }
  const machine = describeMachine(server, folder)
  const intake = await benchIntake(options)
  const processing = await benchProcessing(options)
  const report: Report = { machine, settings, intake, processing }
  process.stdout.write(values.json ? `${JSON.stringify(report)}\n` : formatReport(report))
} finally {
  await server.close()
}
