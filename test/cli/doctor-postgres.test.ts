import assert from 'node:assert/strict'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import pg from 'pg'
import { newUuid } from '../../src/kernel/ids.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { startLocalService } from '../support/local-service.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor, type Report } from './doctor.ts'

onPostgres((engine) => {
  let url = ''
  let drop = () => Promise.resolve()
  let folder: TemporaryFolder
  let database: pg.Client
  before(async () => {
    folder = temporaryFolder()
    const created = await engine.createEmpty()
    url = created.url ?? ''
    drop = () => created.drop()
    database = new pg.Client({ connectionString: url })
    await database.connect()
  })
  after(async () => {
    await database.end()
    await drop()
    folder.remove()
  })

  const look = (env: Readonly<Record<string, string>> = {}): Promise<Report> =>
    doctor({ cwd: folder.path, env: { DATABASE_URL: url, ...env } })
  const migrate = () => runHosted(['migrate'], { cwd: folder.path, env: { DATABASE_URL: url } })

  test('a database that does not answer is one finding; the rest is skipped', async () => {
    const { of, text } = await look({ DATABASE_URL: 'postgres://user:hush@127.0.0.1:1/billing' })
    assertFinding(of('database'), 'error', /127\.0\.0\.1:1\/billing.* — Start the server/)
    for (const check of ['server', 'migrations', 'clock', 'worker', 'queue']) {
      assertFinding(of(check), 'skipped', /does not answer/)
    }
    assertFinding(of('data_folder'), 'skipped', /a server/)
    assert.doesNotMatch(text, /hush/)
  })

  test('a database that is not there, or a host, has a fix of its own', async () => {
    const missing = new URL(url)
    missing.pathname = '/no_such_database'
    const { of } = await look({ DATABASE_URL: missing.href })
    assertFinding(of('database'), 'error', /no_such_database.* — Create the database/)
    const nowhere = await look({ DATABASE_URL: 'postgres://quittance.invalid/billing' })
    assertFinding(nowhere.of('database'), 'error', / — .*(?:host name|DNS)/)
  })

  test('a server that takes connections and never answers does not keep it', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((listening) => server.once('listening', listening))
    const { port } = server.address() as AddressInfo
    try {
      const { of } = await look({ DATABASE_URL: `postgres://127.0.0.1:${port}/billing` })
      assertFinding(of('database'), 'error', /no answer from .*timeout/)
      assertFinding(of('route'), 'error', /./)
    } finally {
      server.close()
    }
  })

  test('a schema that was never made is told, and not made', async () => {
    for (let turn = 0; turn < 2; turn++) {
      const { of } = await look()
      assertFinding(of('migrations'), 'error', /lacks 0001_.* — Run: quittance migrate/)
      assertFinding(of('database'), 'ok', /PostgreSQL \d+ at 127\.0\.0\.1/)
      assertFinding(of('server'), 'ok', /UTF8/)
      assertFinding(of('durability'), 'ok', /fsync/)
      assertFinding(of('clock'), 'ok', /agrees/)
      assertFinding(of('queue'), 'skipped', /outdated/)
    }
  })

  test('a worker is seen, and so is that there is none', async () => {
    await migrate()
    assertFinding((await look()).of('worker'), 'error', /no worker is running.*quittance work/)
    const sync = async () => (await look({ BILLING_QUEUE_CONNECTION: 'sync' })).of('worker')
    assertFinding(
      await sync(),
      'warning',
      /no worker retries one that was returned.*billing\.work\(\)/,
    )
    const worker = await startLocalService({ cwd: folder.path, env: { DATABASE_URL: url } })
    try {
      assertFinding((await look()).of('worker'), 'ok', /1 is running/)
      assertFinding(await sync(), 'ok', /a worker what is left over/)
    } finally {
      await worker.stop()
    }
    assertFinding((await look()).of('worker'), 'error', /no worker is running/)
  })

  test('workers are counted; one that was killed counts for half a minute', async () => {
    const dead = newUuid()
    const worker = await startLocalService({ cwd: folder.path, env: { DATABASE_URL: url } })
    // As a killed one leaves it.
    await database.query('insert into billing.workers (id, seen_at) values ($1, now())', [dead])
    try {
      assertFinding((await look()).of('worker'), 'ok', /2 are running/)
      const passes = (seconds: number) =>
        database.query(
          `update billing.workers set seen_at = now() - make_interval(secs => $1) where id = $2`,
          [seconds, dead],
        )
      await passes(15)
      assertFinding((await look()).of('worker'), 'ok', /2 are running/)
      await passes(31)
      assertFinding((await look()).of('worker'), 'ok', /1 is running/)
    } finally {
      await worker.stop()
    }
    const { rows } = await database.query<{ id: string }>('select id from billing.workers')
    assert.deepEqual(rows, [{ id: dead }])
  })

  test('a gateway that refuses every callback for its signature is a warning', async () => {
    assertFinding((await look()).of('callbacks'), 'ok', /no gateway refuses all/)
    await database.query(`insert into billing.counts
        (span, at, metric, gateway, label, process, value)
      select 'quarter', date_bin('15 minutes', now(), timestamptz '2000-01-01 00:00:00+00'),
        'callbacks_refused_total', 'stripe', 'signature_mismatch', 'test', 3`)
    assertFinding(
      (await look()).of('callbacks'),
      'warning',
      /^every callback of stripe has a wrong signature, 3 in 24 hours — Compare the secret/,
    )
    await database.query('delete from billing.counts')
  })

  test('synchronous_commit = off is an error, although the service refuses it', async () => {
    const name = database.database ?? ''
    await database.query(`alter database ${name} set synchronous_commit = off`)
    const { of } = await look()
    assertFinding(of('durability'), 'error', /synchronous_commit is off/)
    await database.query(`alter database ${name} reset synchronous_commit`)
  })

  test('a read-only database is an error', async () => {
    const name = database.database ?? ''
    await database.query(`alter database ${name} set default_transaction_read_only = on`)
    assertFinding((await look()).of('server'), 'error', /read-only/)
    await database.query(`alter database ${name} reset default_transaction_read_only`)
  })

  test('a listener that the database knows and this configuration lacks is an error', async () => {
    const config = join(folder.path, 'quittance.config.js')
    writeFileSync(
      config,
      'export default { listeners: { mourn: { on: "PaymentFailed", run() {} } } }',
    )
    await database.query(
      `insert into billing.listeners (name, event_types, queued)
       values ('grant', '{PaymentSucceeded}', false), ('mourn', '{PaymentFailed}', false)`,
    )
    const { of } = await look()
    assertFinding(of('listeners'), 'error', /grant\/PaymentSucceeded.*listeners forget/)
    await database.query("delete from billing.listeners where name = 'grant'")
    assertFinding((await look()).of('listeners'), 'ok', /1 known, all of them here/)
    // As a minifier made them, where the name was that of the function.
    await database.query(
      "insert into billing.listeners (name, event_types, queued) values ('o', '{PaymentFailed}', false)",
    )
    const short = /o\/PaymentFailed .* one or two letters.* Unless .* listeners forget o$/s
    assertFinding((await look()).of('listeners'), 'error', short)
    await database.query("delete from billing.listeners where name = 'o'")
    // The listeners of an app that embeds the library stand in no file.
    rmSync(config)
    await database.query(
      "insert into billing.listeners (name, event_types, queued) values ('grant', '{PaymentSucceeded}', false)",
    )
    const { of: ofApp } = await look()
    assertFinding(
      ofApp('listeners'),
      'warning',
      /none of: grant\/PaymentSucceeded, mourn\/PaymentFailed.*app registers them itself/s,
    )
  })

  test('what waits a minute is a warning, five an error; what failed or needs a person is a warning', async () => {
    const { of } = await look()
    for (const check of ['queue', 'failed_calls', 'review', 'deliveries', 'schedules']) {
      assertFinding(of(check), 'ok', /./)
    }
    await database.query(`
      insert into billing.webhook_calls
        (id, gateway, queue, url, headers, kind, payload, state, next_attempt_at, needs_review,
          received_at)
      select gen_random_uuid(), 'fake', 'default', '/', '{}', 'json', '{}', state,
        now() - interval '2 minutes', state = 'ignored', now() - interval '45 days'
      from unnest('{pending,failed,failed,ignored}'::text[]) as state`)
    await database.query(`
      insert into billing.reviews (id, key, gateway, reason, created_at)
      values (gen_random_uuid(), 'k', 'fake', 'amount_mismatch', now() - interval '45 days')`)
    await database.query(`
      with told as (
        insert into billing.events (id, dedup_key, type, source)
        values (gen_random_uuid(), 'k', 'PaymentSucceeded', 'call') returning id
      )
      insert into billing.deliveries (id, event_id, listener, queue, state)
      select gen_random_uuid(), id, 'mail', 'default', 'failed' from told`)
    await database.query(`
      insert into billing.deferred_events (id, dedup_key, type, cause, queue, state)
      select gen_random_uuid(), key, 'PaymentSucceeded', 'poll', 'default', 'failed'
      from unnest('{k1,k2}'::text[]) as key`)
    await database.query(`
      insert into billing.schedules (name, next_run_at) values ('prune', now() - interval '9 hours')
      on conflict (name) do update set next_run_at = excluded.next_run_at`)
    const seen = await look()
    assertFinding(seen.of('retries'), 'ok', /none/)
    assertFinding(seen.of('queue'), 'warning', /a call has been waiting for 2 min.*, 1 pending/)
    assertFinding(seen.of('failed_calls'), 'warning', /for good: 2.*calls replay --failed/)
    assertFinding(
      seen.of('review'),
      'warning',
      /a person must look at: 1, the oldest for 45 d.*reviews list --state open/,
    )
    const deliveries = seen.findings.filter(({ check }) => check === 'deliveries')
    assert.deepEqual(
      deliveries.map(({ state, found }) => [state, found.split(',')[0]]),
      [
        ['warning', 'deliveries to listeners that failed for good: 1'],
        ['warning', 'deferred events that failed for good: 2'],
      ],
    )
    assertFinding(seen.of('schedules'), 'warning', /prune has been due for 9 h/)
    await database.query(`update billing.webhook_calls
      set attempts = 1, next_attempt_at = now() - interval '10 minutes' where state = 'pending'`)
    const later = await look()
    assertFinding(later.of('retries'), 'warning', /1 failed.*calls list --state pending/)
    assertFinding(later.of('queue'), 'error', /a call has been waiting for 10 min/)
  })

  test('a call of a gateway that is not known here is named before it is due', async () => {
    await database.query(`
      insert into billing.webhook_calls
        (id, gateway, queue, url, headers, kind, payload, state, attempts, next_attempt_at)
      values (gen_random_uuid(), 'removed', 'default', '/', '{}', 'json', '{}', 'pending', 3,
        now() + interval '6 hours')`)
    const found = /no gateway removed is known here, .*: 1 call — Configure it here/
    assertFinding((await look()).of('left_over'), 'warning', found)
    await database.query("delete from billing.webhook_calls where gateway = 'removed'")
  })
})
