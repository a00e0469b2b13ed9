import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { after, before, suite, test } from 'node:test'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { takeLock } from '../../src/database/embedded/lock.ts'
import { writeOwner } from '../../src/database/embedded/owner-file.ts'
import { socketPath } from '../../src/database/embedded/socket-place.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { createLog } from '../../src/kernel/log.ts'
import { createPool, makeFolder, open, startOwner, temporaryFolder } from './support.ts'

/** Permission bits as octal text. */
const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

const fails = (code: string, part: RegExp) => (error: unknown) =>
  isQuittanceError(error) && error.code === code && part.test(error.message)

/** Every file below a folder with its content's length and time of change. */
function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`)
    .sort()
}

// The tests share one database, and each leaves it closed and whole.
suite('the owner of an embedded database', () => {
  let folder: string
  const said: unknown[] = []
  const log = createLog({
    level: 'info',
    destination: { write: (line) => void said.push((JSON.parse(line) as { msg: string }).msg) },
  })
  before(async () => {
    folder = makeFolder()
    await (await open(undefined, { dataDir: folder, log })).close()
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('the first start leaves a closed folder, a whole database and nothing else', () => {
    assert.equal(mode(folder), '700')
    assert.deepEqual(readdirSync(folder).sort(), ['database', 'lock'])
    assert.equal(readFileSync(join(folder, 'database/PG_VERSION'), 'utf8').trim(), '18')
  })

  test('the first start says that it prepares the database, a later one does not', async (t) => {
    await (await open(t, { dataDir: folder, log })).close()
    assert.deepEqual(said, ['preparing the database'])
  })

  test('the socket is closed to others, and gone after the stop', async (t) => {
    const embedded = await open(t, { dataDir: folder })
    const path = socketPath(embedded.socket)
    assert.equal(path, join(folder, '.s.PGSQL.5432'))
    assert.equal(mode(path), '600')
    await embedded.close()
    assert.equal(existsSync(path), false)
  })

  test('closing twice is harmless, also at the same time and with an open transaction', async (t) => {
    const embedded = await open(t, { dataDir: folder })
    const client = await createPool(t, embedded.socket).connect()
    await client.query('begin; create table never_committed (value int)')
    await Promise.all([embedded.close(), embedded.close()])
    await embedded.close()
    client.release(true)
    assert.deepEqual(embedded.lost, [])
    const again = await open(t, { dataDir: folder })
    const { rows } = await createPool(t, again.socket).query(
      "select to_regclass('never_committed') as found",
    )
    assert.equal(rows[0].found, null)
    await again.close()
  })

  test('what was written is there after a reopen', async (t) => {
    const first = await open(t, { dataDir: folder })
    const pool = createPool(t, first.socket)
    await pool.query('create table kept as select 42 as value')
    await first.close()
    const second = await open(t, { dataDir: folder })
    const { rows } = await createPool(t, second.socket).query('select value from kept')
    assert.deepEqual(rows, [{ value: 42 }])
    await second.close()
  })

  test('a second process on the folder ends with one line that names the holder', async (t) => {
    const embedded = await open(t, { dataDir: folder })
    const { errors, code } = await startOwner(t, 'serve', folder).ended
    assert.equal(code, 1)
    assert.equal(
      errors,
      `embedded_in_use: the data folder ${folder} is in use by process ${process.pid}\n`,
    )
    const own = fails('embedded_in_use', /in use by another billing of this process/)
    await assert.rejects(open(t, { dataDir: folder }), own)
    // The refused ones took nothing away from the owner.
    await findEmbedded(folder)
    await createPool(t, embedded.socket).query('select 1')
    await embedded.close()
  })

  test('while a first one starts, a second process is told to wait for it', async (t) => {
    const lock = takeLock(folder)
    writeOwner(folder, { pid: process.pid })
    const { errors, code } = await startOwner(t, 'serve', folder).ended
    lock.release()
    assert.equal(code, 1)
    const holder = `process ${process.pid} is starting the embedded database in ${folder}`
    assert.equal(errors, `embedded_in_use: ${holder}\n`)
  })

  test('another process works on the running database through its socket', async (t) => {
    const embedded = await open(t, { dataDir: folder })
    const pool = createPool(t, embedded.socket)
    await pool.query('create table rows as select generate_series(1, 7) as id')
    const other = startOwner(t, 'count', folder)
    assert.equal(await other.line('count'), 'count 7')
    assert.equal((await other.ended).code, 0)
    await embedded.close()
  })

  test('without an owner a second process is told so', async (t) => {
    await assert.rejects(findEmbedded(folder), fails('embedded_not_running', /no process runs/))
    const empty = temporaryFolder(t)
    await assert.rejects(findEmbedded(empty), fails('embedded_not_running', /no process runs/))
    assert.deepEqual(readdirSync(empty), [])
  })

  test('a killed owner leaves a folder that counts as not running and opens again', async (t) => {
    const owner = startOwner(t, 'serve', folder)
    await owner.line('ready')
    owner.child.kill('SIGKILL')
    await owner.ended
    assert.ok(existsSync(join(folder, '.s.PGSQL.5432')))
    await assert.rejects(findEmbedded(folder), { code: 'embedded_not_running' })
    const embedded = await open(t, { dataDir: folder })
    await createPool(t, await findEmbedded(folder)).query('select 1')
    await embedded.close()
  })

  test('acknowledged rows survive kill -9 in the middle of writes', async (t) => {
    await dropRows(folder)
    for (const lifetimeMs of [150, 400, 250]) {
      const owner = startOwner(t, 'write', folder)
      await owner.line('acked')
      await pause(lifetimeMs)
      owner.child.kill('SIGKILL')
      await owner.ended
      const acked = Number(owner.lines.at(-1)?.split(' ')[1])
      const embedded = await open(t, { dataDir: folder })
      const { rows } = await createPool(t, embedded.socket).query(
        'select count(*)::int as count, max(id)::int as last, ' +
          '(select total::int from counter) as total from rows',
      )
      const [{ count, last, total }] = rows
      assert.ok(last >= acked, `last row ${last}, acknowledged ${acked}`)
      assert.deepEqual([count, total], [last, last])
      await embedded.close()
    }
  })

  for (const missing of ['PG_VERSION', 'global/pg_control']) {
    test(`a database without ${missing} is refused and its files stay`, async (t) => {
      const damaged = join(folder, 'database', missing)
      const aside = join(folder, 'aside')
      renameSync(damaged, aside)
      const files = listing(join(folder, 'database'))
      await assert.rejects(open(t, { dataDir: folder }), fails('embedded_damaged', /lacks/))
      assert.deepEqual(listing(join(folder, 'database')), files)
      renameSync(aside, damaged)
    })
  }

  test('a database whose log is missing is refused and its files stay', async (t) => {
    const log = join(folder, 'database/pg_wal')
    const aside = join(folder, 'aside')
    renameSync(log, aside)
    mkdirSync(log)
    const files = readFileSync(join(folder, 'database/global/pg_control'))
    await assert.rejects(open(t, { dataDir: folder }), fails('embedded_damaged', /did not open: ./))
    assert.deepEqual(readFileSync(join(folder, 'database/global/pg_control')), files)
    rmSync(log, { recursive: true })
    renameSync(aside, log)
    await (await open(t, { dataDir: folder })).close()
  })

  test('a folder that became open to others is closed again', async (t) => {
    chmodSync(folder, 0o755)
    await (await open(t, { dataDir: folder })).close()
    assert.equal(mode(folder), '700')
  })

  test('an open folder with other things in it is refused and left as it is', async (t) => {
    const shared = temporaryFolder(t)
    writeFileSync(join(shared, 'letter.txt'), 'not ours')
    chmodSync(shared, 0o755)
    await assert.rejects(open(t, { dataDir: shared }), fails('setting_invalid', /mode 755/))
    assert.equal(mode(shared), '755')
    const file = join(shared, 'letter.txt')
    await assert.rejects(open(t, { dataDir: file }), fails('setting_invalid', /letter\.txt/))
  })

  test('a folder that cannot be written to is named, with the file and what to set', async (t) => {
    const unusable = temporaryFolder(t)
    mkdirSync(join(unusable, 'lock'), { mode: 0o700 })
    await assert.rejects(
      open(t, { dataDir: unusable }),
      fails('setting_invalid', /data folder .* cannot be used: ./),
    )
    rmSync(join(unusable, 'lock'), { recursive: true })
    mkdirSync(join(unusable, 'owner.json.new'))
    await assert.rejects(
      open(t, { dataDir: unusable }),
      fails('setting_invalid', /cannot be used: .*owner\.json/),
    )
  })

  test('a folder whose path is too long for a socket is served from a short one', async (t) => {
    const long = join(temporaryFolder(t), 'n'.repeat(60), 'm'.repeat(60))
    mkdirSync(long, { recursive: true, mode: 0o700 })
    renameSync(join(folder, 'database'), join(long, 'database'))
    const killed = startOwner(t, 'serve', long)
    await killed.line('ready')
    const stale = await findEmbedded(long)
    killed.child.kill('SIGKILL')
    await killed.ended
    const embedded = await open(t, { dataDir: long })
    assert.deepEqual(await findEmbedded(long), embedded.socket)
    assert.ok(socketPath(embedded.socket).length <= 100)
    assert.equal(mode(embedded.socket.host), '700')
    assert.equal(existsSync(stale.host), false)
    await createPool(t, embedded.socket).query('select 1')
    await embedded.close()
    assert.equal(existsSync(embedded.socket.host), false)
    renameSync(join(long, 'database'), join(folder, 'database'))
  })

  test('a kill during the first start leaves a folder that starts', async (t) => {
    const fresh = temporaryFolder(t)
    for (const waitMs of [400, 1500]) {
      const owner = startOwner(t, 'serve', fresh)
      await Promise.race([pause(waitMs), owner.line('ready')])
      owner.child.kill('SIGKILL')
      await owner.ended
      rmSync(join(fresh, 'database'), { recursive: true, force: true })
    }
    // A kill while the files are written: the folder aside is there, half full.
    const aside = join(fresh, 'database.initialising')
    for (let tries = 1; !existsSync(aside); tries += 1) {
      assert.ok(tries < 10, 'each kill came too late')
      rmSync(join(fresh, 'database'), { recursive: true, force: true })
      const half = startOwner(t, 'serve', fresh)
      while (!existsSync(aside) && !half.lines.includes('ready')) await pause(1)
      half.child.kill('SIGKILL')
      await half.ended
    }
    assert.equal(existsSync(join(fresh, 'database')), false)
    const embedded = await open(t, { dataDir: fresh })
    await createPool(t, embedded.socket).query('create table works as select 1 as value')
    assert.equal(existsSync(aside), false)
    await embedded.close()
  })
})

async function dropRows(folder: string): Promise<void> {
  const embedded = await open(undefined, { dataDir: folder })
  const { default: pg } = await import('pg')
  const client = new pg.Client({ ...embedded.socket, user: 'quittance' })
  await client.connect()
  await client.query('drop table if exists rows')
  await client.end()
  await embedded.close()
}
