import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drawChart } from '../../bench/chart.ts'
import { keepsCommitTimes } from '../../bench/latency.ts'
import { formatReport } from '../../bench/report.ts'
import { assertMeasured, measure, report, subjectsIn } from './measure.ts'

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
const latencySubjects = ['no listener', 'a listener inserts a row']
const usageSubjects = [
  'an update a record',
  'P: a bare update',
  'usage.record',
  'usage.record, 2 processes',
]

/** A server of the user's own may not keep the times. */
async function timed(subjects: readonly string[]): Promise<readonly string[]> {
  const server = process.env['QUITTANCE_TEST_POSTGRES']
  return server === undefined || (await keepsCommitTimes(server)) ? subjects : []
}

test('the bench finds every callback that was answered stored', async () => {
  const measured = await report(['intake'])
  assert.deepEqual(subjectsIn(measured), [
    ['Intake, 8 senders: callbacks stored and answered in a second', intakeSubjects],
  ])
  assertMeasured(measured)
  assert.ok(drawChart(measured).includes('>serve, PostgreSQL</text>'))
})

test('what counting costs is measured beside a service that counts nothing', async () => {
  const measured = await report(['numbers'])
  const title = 'What counting costs, 8 senders: callbacks in a second'
  assert.deepEqual(subjectsIn(measured), [[title, ['nothing is counted', 'serve']]])
  assertMeasured(measured)
})

test('people who look at the console take no callback away', async () => {
  const measured = await report(['viewers'])
  const title = 'Callbacks while people look at the console, 8 senders: in a second'
  assert.deepEqual(subjectsIn(measured), [[title, ['nobody looks', '60 people look']]])
  assertMeasured(measured)
})

test('every page of the console is timed, and the rows that it reads are counted', async () => {
  const measured = await report(['console'])
  const [[title, pages] = []] = subjectsIn(measured)
  assert.equal(title, 'Pages of the console beside a million calls')
  for (const page of ['/', '/payments', '/calls', '/failed', '/search?q=1999+yesterday']) {
    assert.ok(pages?.includes(page), page)
  }
  for (const { figures } of measured.sections) {
    assert.ok(figures.some(({ values }) => (values['rows']?.median ?? 0) > 100))
  }
})

test('the bench finds every call processed once, and draws its figures', async () => {
  const measured = await report(['processing'])
  const title = 'Processing a backlog: calls in a second'
  assert.deepEqual(subjectsIn(measured), [[title, processingSubjects]])
  assertMeasured(measured)
  assert.ok(formatReport(measured).split('\n').includes(title))
  const picture = drawChart(measured)
  for (const subject of processingSubjects.slice(1)) {
    assert.ok(picture.includes(`>${subject}</text>`), subject)
  }
})

test('the bench measures from the answer to the committed event', async () => {
  const measured = await report(['latency'])
  const title = 'From the answer to the committed event, at a steady rate'
  assert.deepEqual(subjectsIn(measured), [[title, await timed(latencySubjects)]])
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
