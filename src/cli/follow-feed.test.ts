import assert from 'node:assert/strict'
import { test } from 'node:test'
import { followingOf } from './follow-feed.ts'

const stateOf = (code: string) => Object.assign(new Error('no'), { code, severity: 'ERROR' })

test('a database that is busy is neither lost nor back; one that is gone is said once', () => {
  const ended = new AbortController()
  const said: string[] = []
  const core = { events: { feed: () => Promise.reject(new Error('away')) } }
  const { lost } = followingOf(core, ended.signal, (line) => said.push(line))
  for (const busy of ['55P03', '57014', '40001', '40P01']) {
    assert.equal(lost(stateOf(busy)), false, busy)
  }
  assert.equal(lost(new TypeError('a bug')), false)
  assert.deepEqual(said, [])
  for (const gone of ['57P01', '08006', '53300']) assert.equal(lost(stateOf(gone)), true, gone)
  ended.abort()
  assert.deepEqual(said, ['Lost the service, or its database: waiting for it.'])
})
