import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { classifyFailure, isPassing, type FailureKind } from '../../src/database/failure.ts'
import { connect } from '../../src/database/connect.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onPostgres } from '../support/databases.ts'
import { freePort } from '../support/process.ts'

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  )
  assert.ok(failure instanceof Error, 'it did not fail')
  return failure
}

onPostgres((engine) => {
  const raised: Readonly<Record<string, FailureKind>> = {
    '40001': 'transient',
    '40P01': 'transient',
    '25P04': 'transient',
    '55P03': 'transient',
    '57014': 'transient',
    '22P02': 'data',
    '22P05': 'data',
    '23505': 'data',
    '23514': 'data',
    '54000': 'data',
    '25006': 'unavailable',
    '53100': 'unavailable',
    '53300': 'unavailable',
    '58030': 'unavailable',
    '08006': 'lost',
    '57P01': 'lost',
    '57P02': 'lost',
    '57P03': 'lost',
    '57P05': 'lost',
    // A listener asked for the current value of a sequence that it has not used.
    '55000': 'other',
    '42P01': 'other',
    P0001: 'other',
    XX000: 'other',
  }

  test('what the server raises is classified by its SQLSTATE', async () => {
    const { url, drop } = await engine.create()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      for (const [code, kind] of Object.entries(raised)) {
        const raise = `do $$ begin raise exception 'made up' using errcode = '${code}'; end $$`
        const failure = await failureOf(client.query(raise))
        assert.equal(classifyFailure(failure), kind, code)
        assert.equal(isPassing(failure), kind !== 'data' && kind !== 'other', code)
      }
    } finally {
      await client.end()
      await drop()
    }
  })

  test('a server that loses another one in the middle of a statement has lost it', async () => {
    const { url, drop } = await engine.create()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const raise = `do $$ begin raise exception 'failure on connection marked as essential: 127.0.0.1:5432'
      using errcode = 'XX000'; end $$`
    assert.equal(classifyFailure(await failureOf(client.query(raise))), 'lost')
    await client.end()
    await drop()
  })

  test('a database that takes no connections is unavailable', async () => {
    const { url = '', drop } = await engine.create()
    const administration = Object.assign(new URL(url), { pathname: '/postgres' }).href
    const administrator = new pg.Client({ connectionString: administration })
    const client = new pg.Client({ connectionString: url })
    await administrator.connect()
    try {
      const name = new URL(url).pathname.slice(1)
      await administrator.query(`alter database ${name} allow_connections false`)
      assert.equal(classifyFailure(await failureOf(client.connect())), 'unavailable')
    } finally {
      await administrator.end()
      await drop()
    }
  })

  test('every way to lose the server is classified as lost', async () => {
    const { url, drop } = await engine.create()
    // Without the long limit that tests have: the server that never answers must be given up soon.
    const proxy = await startCutProxy((url ?? '').replace(/\?.*/, ''))
    const database = connect({
      target: { kind: 'postgres', url: proxy.url },
      log: silentLog,
      poolSize: 1,
      applicationName: 'test failure',
      statementTimeout: 100,
    })
    const { pool } = database
    const lost = async (work: Promise<unknown>, what: string) =>
      assert.equal(classifyFailure(await failureOf(work)), 'lost', what)
    try {
      proxy.next(/select 1/, 'cut_before')
      await lost(pool.query('select 1'), 'cut before the statement')
      proxy.next(/select 2/, 'cut_answer')
      await lost(pool.query('select 2'), 'cut before the answer')
      const held = proxy.next(/select 3/, 'hold')
      await lost(pool.query('select 3'), 'no answer in time')
      held.release()
      await lost(pool.query('select pg_terminate_backend(pg_backend_pid())'), 'ended by the server')
      const client = await pool.connect()
      await lost(pool.query('select 4'), 'no connection free in time')
      proxy.cut()
      await lost(client.query('select 5'), 'a connection that is gone')
      client.release(true)
      await proxy.refuse()
      await lost(pool.query('select 6'), 'refused')
    } finally {
      await database.close()
      await proxy.close()
      await drop()
    }
  })

  test('a server that is not there is lost under every spelling of its address', async () => {
    const port = await freePort()
    for (const host of ['127.0.0.1', 'localhost']) {
      const database = connect({
        target: { kind: 'postgres', url: `postgres://postgres@${host}:${port}/postgres` },
        log: silentLog,
        poolSize: 1,
        applicationName: 'test failure',
      })
      const failure = await failureOf(database.pool.query('select 1'))
      assert.equal(classifyFailure(failure), 'lost', host)
      await database.close()
    }
  })
})

test('sessions with a setting that we refuse are unavailable, as long as they have it', () => {
  const refused = new QuittanceError('database_setting_unsuitable', 'made up')
  assert.equal(classifyFailure(refused), 'unavailable')
  assert.ok(isPassing(refused))
})

test('what is not an error of the database is nobody to wait for', () => {
  for (const thrown of [new Error('x'), new TypeError('y'), 'text', undefined, { code: '40001' }]) {
    assert.equal(classifyFailure(thrown), 'other')
  }
})
