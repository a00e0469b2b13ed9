import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import type { z } from 'zod'
import type { runSchema } from '../../src/wire/run.ts'
import { startService, type Service } from './service.ts'

type RunJson = z.output<typeof runSchema>

let service: Service
before(async () => {
  service = await startService({ work: false })
})
after(() => service[Symbol.asyncDispose]())

const post = (path: string, body: object = {}) =>
  service.api(path, {
    method: 'POST',
    body: JSON.stringify(body),
  })

test('a run is started, read and stopped; a double press is one run', async () => {
  const body = {
    id: newUuid(),
    gateway: 'alpha',
    kind: 'call',
    since: '2026-11-01T00:00:00Z',
    operator: 'ops-1',
  }
  const started = await post('/runs', body)
  assert.equal(started.status, 202)
  const run = (await started.json()) as RunJson
  // By its canonical name: rows carry no other.
  assert.deepEqual(run.filter, {
    gateway: 'stripe',
    kind: 'call',
    listener: null,
    exception: null,
    since: '2026-11-01T00:00:00.000Z',
    until: null,
  })
  assert.deepEqual([run.state, run.operator, run.done], ['running', 'ops-1', 0])
  assert.deepEqual(await (await post('/runs', body)).json(), run)
  assert.deepEqual(await (await service.api(`/runs/${run.id}`)).json(), run)
  const stopped = (await (await post(`/runs/${run.id}/stop`)).json()) as RunJson
  assert.equal(stopped.state, 'stopped')
})

test('what is wrong with a run is refused by its code', async () => {
  const id = newUuid()
  assert.equal((await post('/runs', { id })).status, 202)
  const rows = [
    [await post('/runs', { id, kind: 'call' }), 409, 'run_exists'],
    [await post('/runs', { id: 'x' }), 422, 'run_invalid'],
    [await post('/runs', { id: newUuid(), gateway: 'none' }), 422, 'gateway_unknown'],
  ] as const
  for (const [answer, status, code] of rows) {
    const said = (await answer.json()) as { readonly code?: string }
    assert.deepEqual([answer.status, said.code], [status, code])
  }
})

test('who starts and stops a run is recorded', async () => {
  const { data } = await service.core.operators.actions()
  const actions = new Set(
    data.map(({ action, operator, outcome }) => `${operator} ${action} ${outcome}`),
  )
  assert.ok(actions.has('api startRun 202'))
  assert.ok(actions.has('api stopRun 200'))
})
