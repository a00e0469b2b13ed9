import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, suite, test, type TestContext } from 'node:test'
import { serialize } from 'pg-protocol'
import { createPool, open, answer, connectRaw, letters, type OpenedForTest } from './support.ts'

/** Much longer than any pause below: a busy machine alone must not make a transaction idle. */
const transactionIdleMs = 2_000

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
    embedded = await open(undefined, { transactionIdleMs })
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
    const owner = await pool.connect()
    await owner.query('begin')
    await owner.query('insert into exclusive values (1)')
    let finished = false
    const other = pool.query('select count(*)::int as count from exclusive').then(({ rows }) => {
      finished = true
      return rows[0].count
    })
    await pause(100)
    assert.equal(finished, false)
    await owner.query('commit')
    owner.release()
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

  test('a transaction that idles too long is ended and the others go on', async (t) => {
    const pool = createPool(t, embedded.socket)
    await pool.query('create table forgotten (value int)')
    const sleeper = await pool.connect()
    let reason: unknown
    sleeper.on('error', (error) => (reason ??= 'code' in error ? error.code : error.message))
    await sleeper.query('begin')
    await sleeper.query('insert into forgotten values (1)')
    const { rows } = await pool.query('select count(*)::int as count from forgotten')
    assert.equal(rows[0].count, 0)
    await assert.rejects(sleeper.query('commit'))
    assert.equal(reason, '25P03')
    sleeper.release(true)
  })

  test('a transaction that keeps working outlives the idle limit', async (t) => {
    const pool = createPool(t, embedded.socket)
    const client = await pool.connect()
    await client.query('begin')
    const begun = performance.now()
    while (performance.now() - begun < transactionIdleMs * 1.25) {
      await pause(100)
      await client.query('select 1')
    }
    await client.query('commit')
    client.release()
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
    const pool = createPool(t, embedded.socket, 1)
    await assert.rejects(pool.query({ name: 'named', text: 'select $1::int', values: [1] }), {
      code: '0A000',
      message: /named prepared statements/,
    })
    assert.equal((await pool.query('select $1::int as one', [1])).rows[0].one, 1)
  })

  test('a refused statement aborts the transaction that it was sent in', async (t) => {
    const pool = createPool(t, embedded.socket, 1)
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
    const [one, two] = [createPool(t, embedded.socket, 1), createPool(t, embedded.socket, 1)]
    await one.query("set timezone to 'Asia/Tokyo'")
    await one.query("prepare left_behind as select 'leak'")
    await one.query('begin; set transaction isolation level serializable; set role pg_monitor')
    await one.query('commit')
    const { rows } = await two.query(
      "select current_setting('timezone') as zone, current_setting('search_path') as path, " +
        'current_user as role, (select count(*)::int from pg_prepared_statements) as statements',
    )
    assert.deepEqual(rows, [{ zone: 'UTC', path: 'public', role: 'postgres', statements: 0 }])
  })

  test('COPY FROM STDIN ends with an error and the database goes on', async (t) => {
    const pool = createPool(t, embedded.socket, 1)
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
    const pool = createPool(t, embedded.socket, 1)
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
      const pool = createPool(t, embedded.socket, 1)
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
