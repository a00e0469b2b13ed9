import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectSocket, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { sql } from 'kysely'
import { connect } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { onPostgres } from '../support/databases.ts'
import { handTimers } from '../support/hand-timers.ts'
import { muchPatience } from '../support/patience.ts'
import { until } from '../support/until.ts'

onPostgres((engine) => {
  test('a connection that no longer answers is not handed out again', async () => {
    using limit = handTimers()
    const created = await engine.create()
    const url = new URL(created.url ?? '')
    const target = { host: url.hostname, port: Number(url.port || 5432) }
    const sockets = new Set<Socket>()
    const silent = new Set<Socket>()
    const proxy = createServer((client) => {
      const server = connectSocket(target)
      for (const socket of [client, server]) sockets.add(socket.on('error', () => {}))
      client.on('data', (data) => void (silent.has(client) || server.write(data)))
      server.on('data', (data) => void (silent.has(client) || client.write(data)))
      client.on('close', () => server.destroy())
      server.on('close', () => client.destroy())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const database = connect({
      target: { kind: 'postgres', url: url.href },
      log: silentLog,
      poolSize: 4,
      applicationName: 'quittance test',
      patience: muchPatience,
      // An answer may take a second more.
      statementTimeout: limit.lengthMs - 1_000,
    })
    await sql`select 1`.execute(database.db)
    for (const socket of sockets) silent.add(socket)
    const asked = assert.rejects(sql`select 1`.execute(database.db), /Query read timeout/)
    await until(() => limit.running === 1, { what: 'an answer is waited for' })
    limit.strike()
    await asked
    const second = await sql`select 1`.execute(database.db).then(
      () => 'answered',
      (error: unknown) => String(error),
    )
    for (const socket of sockets) socket.destroy()
    proxy.close()
    await database.close()
    await created.drop()
    assert.equal(second, 'answered')
  })

  test('a statement that waits for others of its connection has its own time', async () => {
    using limit = handTimers()
    const created = await engine.create()
    const database = connect({
      target: { kind: 'postgres', url: created.url ?? '' },
      log: silentLog,
      poolSize: 1,
      applicationName: 'quittance test',
      patience: muchPatience,
      statementTimeout: limit.lengthMs - 1_000,
    })
    const client = await database.pool.connect()
    try {
      await client.query('select 1')
      const before = limit.started
      const asked = Array.from({ length: 5 }, () => client.query('select 1'))
      assert.deepEqual([limit.started - before, limit.running], [1, 1], 'that of the first alone')
      const ends = await Promise.allSettled(asked)
      assert.deepEqual(new Set(ends.map(({ status }) => status)), new Set(['fulfilled']))
      assert.deepEqual([limit.started - before, limit.running], [5, 0], 'each has its own')
    } finally {
      client.release()
      await database.close()
      await created.drop()
    }
  })
})
