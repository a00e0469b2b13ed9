import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { areas } from '../../bench/areas.ts'
import { drawChart } from '../../bench/chart.ts'
import { keepsCommitTimes } from '../../bench/latency.ts'
import { formatReport, type Report } from '../../bench/report.ts'

const main = fileURLToPath(new URL('../../bench/main.ts', import.meta.url))

const listeners = ['no listener', 'a listener inserts a row', 'a queued listener']
const intakeSubjects = [
  'B',
  'a transaction each',
  'and a pg-boss job',
  'serve, PostgreSQL',
  'serve --processes 2',
  'serve, embedded',
]
const processingSubjects = [
  'J',
  'a transaction each',
  ...listeners.map((listener) => `PostgreSQL, ${listener}`),
  ...listeners.map((listener) => `embedded, ${listener}`),
]
const togetherSubjects = [
  'J',
  'PostgreSQL, no listener',
  'PostgreSQL, a listener inserts a row',
  'embedded, a listener inserts a row',
]
const latencySubjects = ['no listener', 'a listener inserts a row']
const renewalSubjects = ['C: a loop of payments', ...[1, 2, 4].map((count) => `${count} x 4 lanes`)]
const usageSubjects = [
  'an update a record',
  'P: a bare update',
  'usage.record',
  'usage.record, 2 processes',
]
const commandSubjects = [
  'node -e ""',
  'quittance --help',
  'quittance --version',
  'quittance gateways',
  'quittance payments --help',
]

/** A server of the user's own may not keep the times. */
async function timed(subjects: readonly string[]): Promise<readonly string[]> {
  const server = process.env['QUITTANCE_TEST_POSTGRES']
  return server === undefined || (await keepsCommitTimes(server)) ? subjects : []
}

const measure = (...args: readonly string[]) => {
  const server = process.env['QUITTANCE_TEST_POSTGRES']
  const env = { ...process.env, ...(server !== undefined && { DATABASE_URL: server }) }
  return promisify(execFile)(process.execPath, [main, ...args], { env })
}

/** Wrong counts, and callbacks that are not answered 200, end the bench with an error. */
async function report(areas: readonly string[]): Promise<Report> {
  const only = areas.flatMap((area) => ['--only', area])
  const { stdout } = await measure('--quick', '--json', ...only)
  return JSON.parse(stdout) as Report
}

function assertMeasured({ sections }: Report): void {
  const without = sections.flatMap(({ figures }) =>
    figures.filter(({ subject }) => subject !== 'J' && !subject.startsWith('P:')),
  )
  for (const { values } of without) {
    for (const { least, median, most } of Object.values(values)) {
      assert.ok(least > 0 && least <= median && median <= most && most < Infinity)
    }
  }
}

function subjectsIn({ sections }: Report) {
  return sections.map(({ title, figures }) => [title, figures.map(({ subject }) => subject)])
}

test('callbacks: the bench finds every call stored and processed once, and draws its figures', async () => {
  const measured = await report(['intake', 'processing', 'latency'])
  assert.deepEqual(subjectsIn(measured), [
    ['Intake, 8 senders: callbacks stored and answered in a second', intakeSubjects],
    ['Intake, 16 senders: callbacks stored and answered in a second', intakeSubjects],
    ['Processing a backlog: calls in a second', processingSubjects],
    ['From the answer to the committed event, at a steady rate', await timed(latencySubjects)],
  ])
  assertMeasured(measured)
  const lines = formatReport(measured).split('\n')
  for (const { title } of measured.sections) assert.ok(lines.includes(title))
  const picture = drawChart(measured)
  for (const subject of ['serve, PostgreSQL', ...processingSubjects.slice(1)]) {
    assert.ok(picture.includes(`>${subject}</text>`), subject)
  }
})

test('renewals: the bench finds every due subscription charged and granted once', async () => {
  const measured = await report(['renewals'])
  assert.deepEqual(subjectsIn(measured), [
    ['Due subscriptions: renewals in a second', renewalSubjects],
    ['Nothing due: one look at the database, in ms', ['select 1', 'among 200']],
  ])
  assertMeasured(measured)
})

test('the bench measures all else that a service does', async () => {
  const others = new Set(['intake', 'processing', 'latency', 'renewals', 'usage'])
  const measured = await report(Object.keys(areas).filter((area) => !others.has(area)))
  assert.deepEqual(subjectsIn(measured), [
    ['Intake and processing in one process: calls in a second', togetherSubjects],
    ['Processing beside what is finished: calls in a second', ['empty', '200 finished calls']],
    ['Memory of the service, in MB', ['serve, PostgreSQL']],
    ['Commands, in ms', commandSubjects],
  ])
  assertMeasured(measured)
})

test('one part of the bench runs by itself: that of usage, which counts every record once', async () => {
  const measured = await report(['usage'])
  assert.deepEqual(subjectsIn(measured), [
    ['Usage of 1 subscriptions: records in a second', usageSubjects],
    ['Usage of 50 subscriptions: records in a second', usageSubjects],
    ['usage.get, in ms', ['select 1', 'one quota']],
  ])
  assertMeasured(measured)
})

test('a part of the bench that does not exist is named, with those that do', async () => {
  await assert.rejects(measure('--only', 'speed'), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 2)
    assert.match(error.stderr, /^--only speed: there is no such part; there are intake, /)
    return true
  })
})
