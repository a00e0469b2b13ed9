import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, suite, test, type TestContext } from 'node:test'
import type pg from 'pg'
import { serialize } from 'pg-protocol'
import { nameComment } from '../../src/database/named-statements.ts'
import { minutes } from '../../src/kernel/duration.ts'
import { until } from '../support/until.ts'
import { createPool, open, answer, connectRaw, letters, type OpenedForTest } from './support.ts'

/** Starts a session by hand and reads the greeting. */
async function greeted(t: TestContext, embedded: OpenedForTest) {
  const socket = await connectRaw(t, embedded.socket)
  const greeting = answer(socket)
  socket.write(serialize.startup({ user: 'quittance', options: '-c search_path=nowhere' }))
  return { socket, greeting: await greeting }
}

/** Parse, Bind and Execute, without the Sync. */
function statement(text: string): Buffer {
  return Buffer.concat([serialize.parse({ text }), serialize.bind({}), serialize.execute({})])
}

suite('clients of one embedded database', () => {
  let embedded: OpenedForTest
  before(async () => {
    // A busy machine alone must not make a transaction idle.
    embedded = await open(undefined, { transactionIdleMs: minutes(5) })
  })
  after(() => embedded.close())

  test('500 parallel parameterised queries each get their own result', async (t) => {
    const pool = createPool(t, embedded.socket)
    const asked = Array.from({ length: 500 }, (_, index) => index)
    const answers = await Promise.all(
      asked.map(async (number) => {
        // Different texts and row shapes: a foreign statement or result could not go unnoticed.
        const column = `c${number % 7}`
        const text = `select $1::int as ${column}, repeat($2, $1::int % 50) as filler`
        const { rows } = await pool.query(text, [number, 'ab'])
        return { number: rows[0][column], filler: rows[0].filler }
      }),
    )
    assert.deepEqual(
      answers,
      asked.map((number) => ({ number, filler: 'ab'.repeat(number % 50) })),
    )
  })

  test('parallel failing queries fail alone', async (t) => {
    const pool = createPool(t, embedded.socket)
    const asked = Array.from({ length: 200 }, (_, index) => index)
    const answers = await Promise.all(
      asked.map((number) =>
        pool.query('select 10 / ($1::int % 3) as value', [number]).then(
          ({ rows }) => rows[0].value,
          (error) => error.code,
        ),
      ),
    )
    assert.deepEqual(
      answers,
      asked.map((number) => ['22012', 10, 5][number % 3]),
    )
  })

  test('no other client runs while a transaction is open', async (t) => {
    const pool = createPool(t, embedded.socket)
    await pool.query('create table exclusive (value int)')
    const [owner, guest] = [await pool.connect(), await pool.connect()]
    await owner.query('begin')
    await owner.query('insert into exclusive values (1)')
    let finished = false
    const other = guest.query('select count(*)::int as count from exclusive').then(({ rows }) => {
      finished = true
      return rows[0].count
    })
    // Sent later, and each is answered before the next one is sent.
    for (let times = 0; times < 20; times += 1) await owner.query('select 1')
    assert.equal(finished, false)
    await owner.query('commit')
    owner.release()
    guest.release()
    assert.equal(await other, 1)
  })

  test('a client that disconnects inside a transaction is rolled back first', async (t) => {
    const pool = createPool(t, embedded.socket)
    await pool.query('create table abandoned (value int)')
    const leaver = await pool.connect()
    await leaver.query('begin')
    await leaver.query('insert into abandoned values (1)')
    const other = pool.query('select count(*)::int as count from abandoned')
    leaver.release(true)
    assert.equal((await other).rows[0].count, 0)
  })

  test('after an error inside a transaction a rollback works and others are not touched', async (t) => {
    const pool = createPool(t, embedded.socket)
    await pool.query('create table erring (value int)')
    const client = await pool.connect()
    await client.query('begin')
    await client.query('insert into erring values ($1)', [1])
    await assert.rejects(client.query('insert into erring values ($1)', ['x']), { code: '22P02' })
    await assert.rejects(client.query('select 1'), { code: '25P02' })
    await client.query('rollback')
    client.release()
    const { rows } = await pool.query('select count(*)::int as count from erring')
    assert.equal(rows[0].count, 0)
  })

  test('a named statement is refused and the connection goes on', async (t) => {
    const pool = createPool(t, embedded.socket, { max: 1 })
    await assert.rejects(pool.query({ name: 'named', text: 'select $1::int', values: [1] }), {
      code: '0A000',
      message: /named prepared statements/,
    })
    assert.equal((await pool.query('select $1::int as one', [1])).rows[0].one, 1)
  })

  const addOne = { name: 'add-one', text: `${nameComment('add-one')}select $1::int + 1 as sum` }
  const added = async (client: Pick<pg.Pool, 'query'>) =>
    (await client.query({ ...addOne, values: [1] })).rows[0].sum

  test('a statement of ours is prepared once for all clients, and comes back after each erasure', async (t) => {
    const pools = [1, 2, 3].map(() => createPool(t, embedded.socket, { max: 1 }))
    for (const traces of ['set work_mem = 4096', 'deallocate all', 'discard all']) {
      for (const pool of pools) {
        for (let times = 1; times <= 2; times += 1) assert.equal(await added(pool), 2)
      }
      const { rows } = await createPool(t, embedded.socket).query(
        `select name from pg_prepared_statements where name <> ''`,
      )
      assert.deepEqual(rows, [{ name: 'add-one' }])
      await createPool(t, embedded.socket).query(traces)
    }
    assert.equal(await added(createPool(t, embedded.socket)), 2)
  })

  test('statements of ours are planned anew as tables grow', async (t) => {
    const pool = createPool(t, embedded.socket, { max: 1 })
    await pool.query('create table growing (id int primary key, name text)')
    const name = 'find-growing'
    const text =
      `${nameComment(name)}select id, name from growing ` +
      'join unnest($1::int[]) as wanted(id) using (id)'
    const ids = Array.from({ length: 30 }, (_, index) => index)
    // PostgreSQL keeps a plan that suits any values after five that suited theirs alone.
    for (let times = 1; times <= 7; times += 1) await pool.query({ name, text, values: [ids] })
    const explain = async () => {
      const { rows } = await pool.query(
        `explain (format json) execute "${name}" ('{${ids.join()}}')`,
      )
      return JSON.stringify(rows)
    }
    assert.match(await explain(), /Seq Scan/)
    await pool.query('insert into growing select generate_series(1, 20000)')
    await until(async () => /Index/.test(await explain()), { what: 'the index is used' })
  })

  test('another text under the name of ours is refused, and ours stays', async (t) => {
    assert.equal(await added(createPool(t, embedded.socket)), 2)
    const other = { ...addOne, text: `${addOne.text} where true` }
    const pool = createPool(t, embedded.socket)
    await assert.rejects(pool.query({ ...other, values: [1] }), { code: '0A000' })
    assert.equal(await added(createPool(t, embedded.socket)), 2)
  })

  test('a statement of ours that is faulty is no more known than before', async (t) => {
    const faulty = { name: 'faulty', text: `${nameComment('faulty')}select * from not_there` }
    for (let times = 1; times <= 2; times += 1) {
      await assert.rejects(createPool(t, embedded.socket).query(faulty), { code: '42P01' })
    }
    await createPool(t, embedded.socket).query('create table not_there ()')
    assert.deepEqual((await createPool(t, embedded.socket).query(faulty)).rows, [])
  })

  test('a statement of ours that somebody closed is prepared again', async (t) => {
    assert.equal(await added(createPool(t, embedded.socket)), 2)
    const { socket } = await greeted(t, embedded)
    socket.write(Buffer.concat([serialize.close({ type: 'S', name: 'add-one' }), serialize.sync()]))
    assert.equal(letters(await answer(socket)), '3Z')
    await assert.rejects(added(createPool(t, embedded.socket)), { code: '26000' })
    assert.equal(await added(createPool(t, embedded.socket)), 2)
  })

  test('a statement of ours that is used behind an error and a Flush is skipped like the rest', async (t) => {
    assert.equal(await added(createPool(t, embedded.socket)), 2)
    await createPool(t, embedded.socket).query('deallocate all')
    const { socket } = await greeted(t, embedded)
    socket.write(Buffer.concat([statement('select 1/0'), serialize.flush()]))
    assert.equal(letters((await once(socket, 'data'))[0]), '1E')
    const use = serialize.bind({ statement: 'add-one', values: ['1'] })
    socket.write(Buffer.concat([use, serialize.execute({}), serialize.sync()]))
    assert.equal(letters(await answer(socket)), 'Z')
    assert.deepEqual(embedded.lost, [])
    assert.equal(await added(createPool(t, embedded.socket)), 2)
  })

  test('a refused statement aborts the transaction that it was sent in', async (t) => {
    const pool = createPool(t, embedded.socket, { max: 1 })
    const client = await pool.connect()
    await client.query('begin')
    await assert.rejects(client.query({ name: 'named', text: 'select 1' }), { code: '0A000' })
    await assert.rejects(client.query('select 1'), { code: '25P02' })
    await client.query('rollback')
    client.release()
  })

  for (const [what, bytes] of [
    ['a row of 1 MiB', Buffer.alloc(1024 * 1024, 'x')],
    ['a row of 10 MiB', Buffer.alloc(10 * 1024 * 1024, 'y')],
    ['all byte values', Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256))],
    ['an empty value', Buffer.alloc(0)],
  ] as const) {
    test(`${what} comes back as it was sent`, async (t) => {
      const pool = createPool(t, embedded.socket)
      const { rows } = await pool.query('select $1::bytea as value', [bytes])
      assert.ok(bytes.equals(rows[0].value))
    })
  }

  test('settings, statements and start-up options of one client do not reach another', async (t) => {
    const [one, two] = [
      createPool(t, embedded.socket, { max: 1 }),
      createPool(t, embedded.socket, { max: 1 }),
    ]
    await one.query("set timezone to 'Asia/Tokyo'")
    await one.query("prepare left_behind as select 'leak'")
    await one.query('begin; set transaction isolation level serializable; set role pg_monitor')
    await one.query('commit')
    const { rows } = await two.query(
      "select current_setting('timezone') as zone, current_setting('search_path') as path, " +
        'current_user as role, (select count(*)::int from pg_prepared_statements ' +
        `where statement not like '/* quittance:%') as statements`,
    )
    assert.deepEqual(rows, [{ zone: 'UTC', path: 'public', role: 'postgres', statements: 0 }])
  })

  test('COPY FROM STDIN ends with an error and the database goes on', async (t) => {
    const pool = createPool(t, embedded.socket, { max: 1 })
    await pool.query('create table copied (value int)')
    const { socket } = await greeted(t, embedded)
    const forms = {
      simple: serialize.query('copy copied from stdin; select 1'),
      extended: Buffer.concat([
        statement('copy copied from stdin'),
        serialize.parse({ text: 'select 1' }),
        serialize.sync(),
      ]),
    }
    for (const [name, bytes] of Object.entries(forms)) {
      socket.write(bytes)
      assert.match(letters(await answer(socket)), /GEZ$/, name)
    }
    assert.equal((await pool.query('select 1 as one')).rows[0].one, 1)
    assert.deepEqual(embedded.lost, [])
  })

  test('a Flush is answered and keeps the session until the Sync', async (t) => {
    const { socket } = await greeted(t, embedded)
    socket.write(Buffer.concat([serialize.parse({ text: 'select 7' }), serialize.flush()]))
    const [parsed] = await once(socket, 'data')
    assert.equal(letters(parsed), '1')
    const pool = createPool(t, embedded.socket, { max: 1 })
    const other = pool.query('select $1::int as value', [9])
    socket.write(Buffer.concat([serialize.bind({}), serialize.execute({}), serialize.sync()]))
    assert.equal(letters(await answer(socket)), '2DCZ')
    assert.equal((await other).rows[0].value, 9)
  })

  test('after an error the rest of the unit is skipped', async (t) => {
    const { socket } = await greeted(t, embedded)
    socket.write(Buffer.concat([statement('select 1/0'), statement('select 2'), serialize.sync()]))
    assert.equal(letters(await answer(socket)), '1EZ')
    socket.write(Buffer.concat([statement('select 3'), serialize.sync()]))
    assert.equal(letters(await answer(socket)), '12DCZ')
  })

  test('the greeting names what a client needs, and an SSL request is declined', async (t) => {
    const socket = await connectRaw(t, embedded.socket)
    socket.write(serialize.requestSsl())
    const [declined] = await once(socket, 'data')
    assert.equal(String(declined), 'N')
    const { greeting } = await greeted(t, embedded)
    assert.match(letters(greeting), /^RS+KZ$/)
    const text = greeting.toString('latin1')
    for (const part of [
      'server_version\x0018.',
      'client_encoding\0UTF8',
      'integer_datetimes\0on',
    ]) {
      assert.ok(text.includes(part), part)
    }
  })

  const junk = Buffer.alloc(64, 0xff)
  const head = (letter: string, length: number) => {
    const bytes = Buffer.alloc(5)
    bytes.write(letter)
    bytes.writeUInt32BE(length, 1)
    return bytes
  }
  for (const [what, bytes] of [
    ['random bytes', junk],
    ['a length of 0', head('Q', 0)],
    ['a message over the limit', head('Q', 64 * 1024 * 1024 + 1)],
    ['a function call', Buffer.concat([head('F', 14), Buffer.alloc(10)])],
    ['an overlong Describe', Buffer.concat([head('D', 30_004), Buffer.alloc(30_000, 'S')])],
    [
      'a named statement after Flush',
      Buffer.concat([
        serialize.parse({ text: 'select 1' }),
        serialize.flush(),
        serialize.parse({ name: 'named', text: 'select 1' }),
        serialize.sync(),
      ]),
    ],
  ] as const) {
    test(`${what}: that connection ends, the others go on`, async (t) => {
      const { socket } = await greeted(t, embedded)
      socket.write(bytes)
      const closed = once(socket, 'close')
      assert.match((await answer(socket)).toString('latin1'), /C08P01/)
      await closed
      const pool = createPool(t, embedded.socket, { max: 1 })
      assert.equal((await pool.query('select 1 as one')).rows[0].one, 1)
      assert.deepEqual(embedded.lost, [])
    })
  }

  test('a malformed Bind is an ordinary error', async (t) => {
    const { socket } = await greeted(t, embedded)
    const bind = Buffer.concat([head('B', 8), junk.subarray(0, 4)])
    socket.write(Buffer.concat([serialize.parse({ text: 'select 1' }), bind, serialize.sync()]))
    assert.match(letters(await answer(socket)), /^1EZ$/)
  })

  test('pipelined units are answered in their order', async (t) => {
    const { socket } = await greeted(t, embedded)
    const numbers = Array.from({ length: 300 }, (_, index) => index)
    const received: Buffer[] = []
    socket.on('data', (chunk) => received.push(Buffer.from(chunk)))
    socket.write(Buffer.concat(numbers.map((number) => serialize.query(`select 'n${number}.'`))))
    while (!Buffer.concat(received).includes('n299.')) await once(socket, 'data')
    const found = Buffer.concat(received)
      .toString('latin1')
      .match(/n\d+\./g)
    assert.deepEqual(
      found,
      numbers.map((number) => `n${number}.`),
    )
  })

  test('the 101st connection is told why it is refused', async (t) => {
    const sockets = await Promise.all(
      Array.from({ length: 100 }, async () => (await greeted(t, embedded)).socket),
    )
    const extra = await connectRaw(t, embedded.socket)
    assert.match((await answer(extra)).toString('latin1'), /C53300/)
    for (const socket of sockets) socket.destroy()
  })
})

suite('transactions that must not idle', () => {
  const transactionIdleMs = 250
  let embedded: OpenedForTest
  before(async () => {
    embedded = await open(undefined, { transactionIdleMs })
  })
  after(() => embedded.close())

  test('one that idles too long is ended and the others go on', async (t) => {
    const pool = createPool(t, embedded.socket)
    await pool.query('create table forgotten (value int)')
    const sleeper = await pool.connect()
    let reason: unknown
    sleeper.on('error', (error) => (reason ??= 'code' in error ? error.code : error.message))
    // At once: however slow the machine is, it idles only afterwards.
    await sleeper.query('begin; insert into forgotten values (1)')
    const { rows } = await pool.query('select count(*)::int as count from forgotten')
    assert.equal(rows[0].count, 0)
    await assert.rejects(sleeper.query('commit'))
    assert.equal(reason, '25P03')
    sleeper.release(true)
  })

  test('one that keeps working outlives the limit', async (t) => {
    const { socket } = await greeted(t, embedded)
    // Afterwards the session is idle: what begins next must end that.
    socket.write(serialize.query('select 1'))
    await answer(socket)
    const received: Buffer[] = []
    socket.on('data', (chunk) => received.push(Buffer.from(chunk)))
    // All are sent at once, so the next one is there as soon as the one before has ended.
    // The embedded database does not sleep.
    const each = `do $$ declare over timestamptz := clock_timestamp() + interval '${transactionIdleMs / 4} ms';
      begin while clock_timestamp() < over loop end loop; end $$`
    const work = ['begin', ...Array<string>(8).fill(each), `commit; select 'over.'`]
    socket.write(Buffer.concat(work.map((text) => serialize.query(text))))
    const isOver = () => socket.destroyed || Buffer.concat(received).includes('over.')
    await until(isOver, { what: 'its work is done' })
    assert.equal(socket.destroyed, false, 'it is dismissed')
    assert.doesNotMatch(Buffer.concat(received).toString('latin1'), /25P03/)
  })
})
