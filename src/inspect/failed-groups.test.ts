import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupFailed } from './failed-groups.ts'

const at = (second: number) => new Date(Date.UTC(2026, 10, 22, 10, 0, second))
const nothing = {
  calls: [],
  deliveries: [],
  deferredEvents: [],
  forwards: [],
  attempts: [],
  mostIds: 2,
}

test('lines that are the same as far as they are shown are one group, the newest first', () => {
  const long = 'x'.repeat(200)
  const row = (line: string, second: number, ids: readonly string[]) => ({
    gateway: 'own',
    line: `in listener grant: ${line}`,
    count: ids.length,
    newestAt: at(second),
    ids,
  })
  assert.deepEqual(
    groupFailed({
      ...nothing,
      calls: [row('other', 2, ['o']), row(`${long}1`, 1, ['a', 'b']), row(`${long}2`, 3, ['c'])],
    }),
    [
      {
        kind: 'call',
        gateway: 'own',
        listener: 'grant',
        error: long,
        count: 3,
        newestAt: at(3),
        ids: ['c', 'a'],
      },
      {
        kind: 'call',
        gateway: 'own',
        listener: 'grant',
        error: 'other',
        count: 1,
        newestAt: at(2),
        ids: ['o'],
      },
    ],
  )
})

test('a delivery has its listener; a deferred event names it in what was thrown', () => {
  const row = { count: 1, newestAt: at(1), ids: ['d'] }
  const groups = groupFailed({
    ...nothing,
    deliveries: [{ ...row, listener: 'mail', line: 'Error: no' }],
    deferredEvents: [{ ...row, eventType: 'PaymentSucceeded', line: 'in listener crm: Error: no' }],
  })
  assert.deepEqual(
    groups.map((group) => [group.kind, 'listener' in group && group.listener, group.count]),
    [
      ['delivery', 'mail', 1],
      ['deferred_event', 'crm', 1],
    ],
  )
})

test('a forward says how the last request of its newest event ended', () => {
  const forward = { endpointId: 'e', endpoint: 'shop', count: 7, newestAt: at(1), ids: ['n', 'o'] }
  const attempt = { endpointId: 'e', result: 'refused', status: 500 }
  const groups = groupFailed({
    ...nothing,
    forwards: [forward, { ...forward, endpointId: 'f', endpoint: null }],
    attempts: [
      { ...attempt, eventId: 'o', status: 404 },
      { ...attempt, eventId: 'n' },
    ],
  })
  assert.deepEqual(
    groups.map((group) => group.kind === 'forward' && [group.endpoint, group.result, group.status]),
    [
      ['shop', 'refused', 500],
      [null, null, null],
    ],
  )
})
