import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setImmediate as endOfTurn } from 'node:timers/promises'
import pg from 'pg'
import { randomBytes } from 'node:crypto'
import { bodyContext } from '../../src/database/calls.ts'
import { readCipher } from '../../src/kernel/encryption.ts'
import { binaryArray, uuidBytes } from '../../src/database/binary-array.ts'
import { until } from '../support/billing.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onBothDatabases, onPostgres, type TestDatabase } from '../support/databases.ts'
import { handClock } from '../support/hand-clock.ts'
import { blockCalls, follow, largeCall, newCall, newCalls, openStore, storedIds } from './store.ts'

const insert = /^insert into billing\.webhook_calls/
/** From then on a flush counts as slow, in ms. */
const slowFlush = 100

onBothDatabases((engine) => {
  let created: TestDatabase
  before(async () => {
    created = await engine.create()
  })
  after(() => created.drop())

  test('a call alone is stored at once, with one statement', async () => {
    await using store = await openStore(created.target)
    const call = newCall()
    const answer = store.calls.store(call)
    await endOfTurn()
    assert.equal(store.statements(), 1, 'it waits for company')
    assert.equal(await answer, 'stored')
    assert.equal(store.statements(), 1)
    const { rows } = await store.database.pool.query(
      'select state, payload, body, headers, url, lease_token from billing.webhook_calls where id = $1',
      [call.id],
    )
    assert.deepEqual(rows, [
      {
        state: 'pending',
        payload: call.payload,
        body: null,
        headers: '{"content-type":"application/json"}',
        url: call.url,
        lease_token: null,
      },
    ])
  })

  test('200 concurrent calls behind a slow flush are gathered into a few statements', async (t) => {
    await using store = await openStore(created.target)
    const calls = newCalls(200)
    const block = await blockCalls(store.database)
    // None is taken for slow: those beside it would leave it nothing.
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const first = follow(store.calls, calls.slice(0, 1))
    await endOfTurn()
    const others = follow(store.calls, calls.slice(1))
    await until(() => store.statements() === 2, { what: 'two flushes are under way' })
    await endOfTurn()
    const answers = [...first.results, ...others.results]
    assert.deepEqual(new Set(answers), new Set([undefined]), 'acknowledged before the commit')
    t.mock.timers.reset()
    await block.release()
    assert.deepEqual(new Set([...(await first.all), ...(await others.all)]), new Set(['stored']))
    // One is under way with the first call; another takes half of the rest beside it.
    assert.deepEqual(
      store.inserted.slice(0, 2).map((ids) => ids.length),
      [1, 100],
    )
    assert.ok(store.statements() <= 6, `${store.statements()} statements`)
    const stored = new Set(await storedIds(store.database))
    assert.ok(calls.every((call) => stored.has(call.id)))
  })

  test('beside a flush another one begins for 12 calls, or for 64 where they are processed', async (t) => {
    const fullWorker = {
      room: () => 0,
      wants: () => true,
      give: () => assert.fail(),
      release: () => assert.fail(),
    }
    for (const [mostFlushes, least, worker] of [
      [2, 12, undefined],
      [1, 12, undefined],
      [2, 64, fullWorker],
    ] as const) {
      const handOver = () => worker
      await using store = await openStore(created.target, { mostFlushes, handOver })
      const block = await blockCalls(store.database)
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const begun: number[] = []
      const followed = []
      for (const count of [1, least - 1, 1, 1]) {
        followed.push(follow(store.calls, newCalls(count)).all)
        await endOfTurn()
        begun.push(store.statements())
      }
      t.mock.timers.reset()
      await block.release()
      assert.deepEqual(begun, [1, 1, mostFlushes, mostFlushes])
      assert.ok((await Promise.all(followed)).flat().every((result) => result === 'stored'))
      assert.equal(store.statements(), mostFlushes + 1)
    }
  })

  test('of many calls a flush leaves the next one its share', async (t) => {
    await using store = await openStore(created.target)
    const block = await blockCalls(store.database)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { all } = follow(store.calls, newCalls(200))
    await endOfTurn()
    t.mock.timers.reset()
    await block.release()
    assert.deepEqual(new Set(await all), new Set(['stored']))
    const [first, second] = store.inserted.map((ids) => ids.length)
    assert.deepEqual([first, second], [100, 50])
  })

  test('a flush takes 500 calls at most, the longest waiting first', async () => {
    await using store = await openStore(created.target)
    const block = await blockCalls(store.database)
    const calls = newCalls(1_202)
    const { all } = follow(store.calls, calls)
    await endOfTurn()
    await block.release()
    assert.deepEqual(new Set(await all), new Set(['stored']))
    // In the order in which they begin: beside a slow one, a later one may end first.
    const [first = 0, ...others] = store.inserted.map((ids) => ids.length)
    assert.equal(first, 500)
    assert.ok(others.every((count) => count <= 500))
    assert.deepEqual(
      store.inserted.flat(),
      calls.map((call) => call.id),
      'an earlier call is taken later than one that came after it',
    )
  })

  test('with too many calls waiting, further ones are refused at once', async () => {
    await using store = await openStore(created.target, { mostWaiting: 20 })
    const block = await blockCalls(store.database)
    const { results, all } = follow(store.calls, newCalls(20))
    const refusals = newCall()
    assert.equal(await store.calls.store(refusals), 'unavailable')
    assert.ok(
      results.every((result) => result === undefined),
      'those who wait were not answered',
    )
    assert.ok(store.logged.some(({ msg }) => msg === 'too many calls wait for the database'))
    await block.release()
    assert.deepEqual(new Set(await all), new Set(['stored']))
    assert.equal(await store.calls.store(newCall()), 'stored')
    assert.ok(!(await storedIds(store.database)).includes(refusals.id))
  })

  test('with too many bytes waiting, further calls are refused at once', async () => {
    await using store = await openStore(created.target, { mostWaitingBytes: 100_000 })
    const block = await blockCalls(store.database)
    const { all } = follow(store.calls, [largeCall(60_000), largeCall(60_000)])
    assert.equal(await store.calls.store(newCall()), 'unavailable')
    await block.release()
    assert.deepEqual(await all, ['stored', 'stored'])
    assert.equal(await store.calls.store(largeCall(200_000)), 'stored')
  })

  test('those whose time is up make room: the bound never stays reached', async (t) => {
    const deadline = 20
    await using store = await openStore(created.target, { mostWaiting: 10, deadline })
    const clock = handClock(t)
    const before = (await storedIds(store.database)).length
    const block = await blockCalls(store.database)
    for (let round = 0; round < 3; round += 1) {
      const { results, all } = follow(store.calls, newCalls(10))
      await endOfTurn()
      assert.deepEqual(new Set(results), new Set([undefined]), 'refused before their time is up')
      clock.pass(deadline)
      assert.deepEqual(new Set(await all), new Set(['unavailable']))
    }
    await block.release()
    await store.calls.close()
    const late = (await storedIds(store.database)).length - before
    assert.ok(late <= 2 * 10, `${late} were stored: more than two flushes of a round`)
    // A commit may take longer than the deadline; were the bound still reached, none would do.
    await until(async () => (await store.calls.store(newCall())) === 'stored', {
      what: 'there is room again',
    })
  })

  test('close waits for the calls that are being stored', async () => {
    await using store = await openStore(created.target)
    const block = await blockCalls(store.database)
    const { results, all } = follow(store.calls, newCalls(30))
    let whenClosed: typeof results = []
    const closing = store.calls.close().then(() => {
      whenClosed = [...results]
    })
    await endOfTurn()
    assert.deepEqual(whenClosed, [])
    await block.release()
    await closing
    await all
    assert.deepEqual(new Set(whenClosed), new Set(['stored']))
    assert.equal(whenClosed.length, 30)
  })

  test('one bad row does not fail its neighbours, and its bytes are kept', async () => {
    await using store = await openStore(created.target)
    const bytes = Buffer.from('{"not": "json"')
    const bad = {
      'a payload that is no JSON': newCall({ payload: bytes.toString() }),
      'one beside exact bytes': newCall({ payload: '"', body: bytes }),
      'a NUL in the payload': newCall({ payload: '"\0"' }),
      'a NUL in the URL': newCall({ url: 'https://pay.example.test/a\0b' }),
      'no payload where there should be one': newCall({ payload: null, body: bytes }),
    }
    const neighbours = newCalls(20)
    const block = await blockCalls(store.database)
    const { all } = follow(store.calls, [
      ...newCalls(2),
      ...neighbours.slice(0, 10),
      ...Object.values(bad),
      ...neighbours.slice(10),
    ])
    await block.release()
    assert.deepEqual(new Set(await all), new Set(['stored']))
    for (const [what, call] of Object.entries(bad)) {
      const { rows } = await store.database.pool.query(
        'select kind, payload, body, url from billing.webhook_calls where id = $1',
        [call.id],
      )
      const url = call.url.replace('\0', '%00')
      const body = Buffer.from(call.body ?? call.payload ?? '')
      assert.deepEqual(rows, [{ kind: 'unreadable', payload: null, body, url }], what)
    }
    const { rows } = await store.database.pool.query(
      `select id from billing.webhook_calls
       where id = any($1::uuid[]) and kind = 'json' and body is null`,
      [neighbours.map((call) => call.id)],
    )
    assert.equal(rows.length, 20)
  })

  test('with a key, the bytes of a row that is refused are encrypted, as nobody has looked into them', async () => {
    const cipher = readCipher(randomBytes(32).toString('base64'))
    await using store = await openStore(created.target, { cipher })
    const bytes = Buffer.from('{"a":01}')
    const call = newCall({ payload: bytes.toString(), body: bytes })
    assert.equal(await store.calls.store(call), 'stored')
    const { rows } = await store.database.pool.query<{ body: Buffer; body_encrypted: boolean }>(
      'select body, body_encrypted from billing.webhook_calls where id = $1',
      [call.id],
    )
    const [row] = rows
    assert.equal(row?.body_encrypted, true)
    assert.deepEqual(Buffer.from(cipher?.decrypt(row.body, bodyContext(call.id)) ?? []), bytes)
  })

  test('a row that is refused even as bytes is refused alone', async () => {
    await using store = await openStore(created.target)
    const neighbours = newCalls(10)
    const block = await blockCalls(store.database)
    const { all } = follow(store.calls, [...newCalls(2), newCall({ gateway: '\0' }), ...neighbours])
    await block.release()
    const results = await all
    assert.deepEqual(results.filter((result) => result === 'unavailable').length, 1)
    assert.equal(results[2], 'unavailable')
  })

  test('arrays reach the server as they are: every script, nothing, empty, long, bytes', async () => {
    await using store = await openStore(created.target)
    const texts = ['', 'гривня é€😀 "{},\\', null, 'x', 'ї'.repeat(10_000)]
    const bytes = [Buffer.of(0, 255, 92), null, Buffer.alloc(0), Buffer.alloc(10_000, 7)]
    const ids = [newCall().id, null]
    const { rows } = await store.database.pool.query(
      'select $1::text[] as texts, $2::bytea[] as bytes, $3::uuid[] as ids, $4::json[] as jsons',
      [
        binaryArray('text', texts),
        binaryArray('bytea', bytes),
        binaryArray(
          'uuid',
          ids.map((id) => (id === null ? null : uuidBytes(id))),
        ),
        binaryArray('json', ['{"a": 1.10}']),
      ],
    )
    assert.deepEqual(rows, [{ texts, bytes, ids, jsons: [{ a: 1.1 }] }])
  })

  test('the same call stored twice is one row', async () => {
    await using store = await openStore(created.target)
    const call = newCall()
    assert.deepEqual(await follow(store.calls, [call, call]).all, ['stored', 'stored'])
    assert.equal(await store.calls.store(call), 'stored')
    const ids = await storedIds(store.database)
    assert.equal(ids.filter((id) => id === call.id).length, 1)
  })
})

onPostgres((engine) => {
  test('what the database cannot spell is stored as bytes: signed is never lost', async () => {
    const created = await engine.create()
    const url = new URL(created.url ?? '')
    const name = `${url.pathname.slice(1)}_latin`
    const admin = new pg.Client({ connectionString: created.url })
    await admin.connect()
    try {
      await admin.query(`create database ${name} encoding 'LATIN1' locale 'C' template template0`)
      url.pathname = `/${name}`
      await using store = await openStore({ kind: 'postgres', url: url.href })
      const text = '{"name":"Оксана €"}'
      const call = newCall({ payload: text })
      const neighbours = newCalls(3)
      const block = await blockCalls(store.database)
      const { all } = follow(store.calls, [...newCalls(2), call, ...neighbours])
      await block.release()
      assert.deepEqual(new Set(await all), new Set(['stored']))
      const { rows } = await store.database.pool.query(
        'select kind, body from billing.webhook_calls where id = $1',
        [call.id],
      )
      assert.deepEqual(rows, [{ kind: 'unreadable', body: Buffer.from(text) }])
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`)
      await admin.end()
      await created.drop()
    }
  })

  test('beside a flush that the server holds up, the next one stores all other calls', async (t) => {
    const created = await engine.create()
    const proxy = await startCutProxy(created.url ?? '')
    try {
      const through = { kind: 'postgres', url: proxy.url } as const
      await using store = await openStore(created.target, { through })
      const held = proxy.next(insert, 'hold')
      t.mock.timers.enable({ apis: ['setTimeout'] })
      const first = follow(store.calls, newCalls(1))
      await held.struck
      t.mock.timers.tick(slowFlush)
      t.mock.timers.reset()
      const { all } = follow(store.calls, newCalls(199))
      assert.deepEqual(new Set(await all), new Set(['stored']))
      assert.deepEqual(first.results, [undefined])
      held.release()
      assert.deepEqual(await first.all, ['stored'])
      assert.equal(proxy.statements.filter((text) => insert.test(text)).length, 2)
      assert.equal((await storedIds(store.database)).length, 200)
    } finally {
      await proxy.close()
      await created.drop()
    }
  })
})
