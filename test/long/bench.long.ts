import assert from 'node:assert/strict'
import { test } from 'node:test'
import { areas } from '../../bench/areas.ts'
import { assertMeasured, report, subjectsIn } from '../bench/measure.ts'

const togetherSubjects = [
  'J',
  'PostgreSQL, no listener',
  'PostgreSQL, a listener inserts a row',
  'embedded, a listener inserts a row',
]
const renewalSubjects = ['C: a loop of payments', ...[1, 2, 4].map((count) => `${count} x 4 lanes`)]
const commandSubjects = [
  'node -e ""',
  'quittance --help',
  'quittance --version',
  'quittance gateways',
  'quittance payments --help',
]

const feedSubjects = ['nothing is numbered', 'events are numbered', 'and read, by one reader']

test('renewals: the bench finds every due subscription charged and granted once', async () => {
  const measured = await report(['renewals'])
  assert.deepEqual(subjectsIn(measured), [
    ['Due subscriptions: renewals in a second', renewalSubjects],
    ['Nothing due: one look at the database, in ms', ['select 1', 'among 200']],
  ])
  assertMeasured(measured)
})

test('the bench measures all else that a service does, to its last event', async () => {
  const inCi = ['intake', 'numbers', 'viewers', 'console', 'processing', 'latency', 'usage']
  const others = new Set([...inCi, 'renewals'])
  const measured = await report(Object.keys(areas).filter((area) => !others.has(area)))
  assert.deepEqual(subjectsIn(measured), [
    ['Intake and processing in one process: calls in a second', togetherSubjects],
    ['Processing beside what is finished: calls in a second', ['empty', '200 finished calls']],
    ['The feed beside a backlog: calls in a second', feedSubjects],
    ['The feed beside intake and processing: callbacks in a second', feedSubjects],
    [
      'Events to endpoints, from their writing to the request',
      ['those that live alone', 'beside dead ones'],
    ],
    ['Memory of the service, in MB', ['serve, PostgreSQL']],
    ['Commands, in ms', commandSubjects],
  ])
  assertMeasured(measured)
})
