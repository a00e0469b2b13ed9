import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { runHosted } from '../support/command-host.ts'
import { onPostgres, type TestDatabase } from '../support/databases.ts'
import { freePort, type Ending } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

type Environment = Readonly<Record<string, string>>

/** Exit code 1, nothing on standard output, one line: what and where — how to fix it. */
function assertOneLine(ending: Ending, pattern: RegExp): void {
  assert.equal(ending.code, 1)
  assert.deepEqual(ending.stdout, [])
  assert.equal(ending.stderr.length, 1, ending.stderr.join('\n'))
  const [line = ''] = ending.stderr
  assert.match(line, /^quittance: .+ — .+/)
  assert.match(line, pattern)
}

interface Row {
  readonly name: string
  readonly env: Environment
  readonly config?: string
  readonly line: RegExp
}

const rows: readonly Row[] = [
  {
    name: 'an unreachable database',
    env: { DATABASE_URL: 'postgres://user:hush@127.0.0.1:1/billing' },
    line: /127\.0\.0\.1:1.* — .*DATABASE_URL/,
  },
  {
    name: 'a database URL that is none',
    env: { DATABASE_URL: 'mysql://user:hush@127.0.0.1/billing' },
    line: /DATABASE_URL.*postgres:\/\//,
  },
  {
    name: 'a database URL that names several servers',
    env: { DATABASE_URL: 'postgres://user:hush@127.0.0.1:1,127.0.0.1:2/billing' },
    line: /DATABASE_URL has several hosts.* — .*DNS/,
  },
  { name: 'a port that is no number', env: { PORT: 'abc' }, line: /PORT must be .*, got "abc"/ },
  {
    name: 'a port that is too large',
    env: { PORT: '65536' },
    line: /PORT must be .*, got "65536"/,
  },
  {
    name: 'a public URL with a path',
    env: { APP_URL: 'https://pay.example.com/shop' },
    line: /APP_URL must be an origin.*, got "https:\/\/pay\.example\.com\/shop"/,
  },
  {
    name: 'an API token with a space',
    env: { BILLING_API_TOKEN: 'hush hush' },
    line: /BILLING_API_TOKEN must be a text without spaces —/,
  },
  {
    name: 'a switch that is neither on nor off',
    env: { BILLING_FAKE: 'yes' },
    line: /BILLING_FAKE must be .*on.*off.*; what is set there \(3 characters\) is not/,
  },
  {
    name: 'a private key in the place of a public one',
    env: { MONOBANK_PUBLIC_KEY: '-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----' },
    line: /MONOBANK_PUBLIC_KEY must be EC P-256 public keys/,
  },
  {
    name: 'a webhook path without {gateway}',
    env: { BILLING_WEBHOOK_PATH: '/callbacks' },
    line: /\{gateway\}.*"\/callbacks".* — .*BILLING_WEBHOOK_PATH/,
  },
  {
    name: 'a prune window not longer than the longest retry window',
    env: { BILLING_WEBHOOK_PRUNE_AFTER_DAYS: '4' },
    line: /pruned after day 4, .*redelivers for 4 days — Raise BILLING_WEBHOOK_PRUNE_AFTER_DAYS, webhook\.prune_after_days \(file\), or pruneAfterDays \(app\)/,
  },
  {
    name: 'an unknown queue connection',
    env: { BILLING_QUEUE_CONNECTION: 'rabbit' },
    line: /BILLING_QUEUE_CONNECTION must be database or sync, got "rabbit" — /,
  },
  {
    name: 'a queue connection that is not built yet',
    env: { BILLING_QUEUE_CONNECTION: 'redis' },
    line: /BILLING_QUEUE_CONNECTION must be database or sync, got "redis" — /,
  },
  {
    name: 'the embedded database under NODE_ENV=production',
    env: { NODE_ENV: 'production' },
    line: /embedded database.*NODE_ENV=production.* — .*DATABASE_URL/,
  },
  {
    name: 'a misspelt key in quittance.config',
    env: {},
    config: 'export default { webhook: { prune_after_day: 30 } }',
    line: /quittance\.config\.js: webhook\.prune_after_day is unknown; did you mean prune_after_days\? There are path, middleware, prune_after_days, max_body_bytes — Correct the file/,
  },
  {
    name: 'a keep-alive of days in quittance.config, which no timer can wait for',
    env: {},
    config: 'export default { http: { keep_alive_seconds: 3_000_000 } }',
    line: /quittance\.config\.js: http\.keep_alive_seconds must be .* 3600, got 3000000 — /,
  },
  {
    name: 'a database URL in quittance.config that is none',
    env: {},
    config: "export default { database: { url: 'mysql://user:hush@127.0.0.1/billing' } }",
    line: /quittance\.config\.js: database\.url must look like postgres:\/\/.* — Name one server/,
  },
  {
    name: 'a listener in quittance.config that is no function',
    env: {},
    config: 'export default { listeners: { grant: { on: "PaymentSucceeded", run: 5 } } }',
    line: /listener grant: what it runs must be a function — .*docs\/4-listeners\.md/,
  },
  {
    name: 'a listener in quittance.config under its event instead of a name',
    env: {},
    config: 'export default { listeners: { PaymentSucceeded: function grant() {} } }',
    line: /listeners\.PaymentSucceeded .*name.* — .*listeners: \{ grantAccess: \{ on: 'PaymentSucceeded', run: listener \} \}/,
  },
  {
    name: 'a quittance.config that throws, with its line',
    env: {},
    config: "const url = 'x'\nthrow new Error('no good')",
    line: /quittance\.config\.js:2: no good — Correct the file/,
  },
  {
    name: 'a quittance.config that cannot be loaded',
    env: {},
    config: 'export default {',
    line: /quittance\.config\.js: /,
  },
  {
    name: 'a quittance.config without a default export',
    env: {},
    config: 'export const config = {}',
    line: /quittance\.config\.js: .*default export/,
  },
  {
    name: 'an unknown gateway in quittance.config',
    env: {},
    config: "export default { gateways: { strpe: { signing_secret: 'whsec_hush' } } }",
    line: /gateways\.strpe: no such gateway; did you mean stripe\? There are /,
  },
]

describe('the start fails with exit code 1 and one line that says what, where and how to fix it:', () => {
  for (const { name, env, config, line } of rows) {
    test(name, async () => {
      using folder = temporaryFolder()
      if (config !== undefined) writeFileSync(join(folder.path, 'quittance.config.js'), config)
      const options = { cwd: folder.path, env: { PORT: String(await freePort()), ...env } }
      const ending = await runHosted(['serve'], options)
      assertOneLine(ending, line)
      assert.doesNotMatch(ending.stderr.join('\n'), /hush/)
    })
  }

  for (const command of ['work', 'migrate', 'prune']) {
    test(`${command}, on wrong settings and without its database`, async () => {
      using folder = temporaryFolder()
      const run = (env: Environment) => runHosted([command], { cwd: folder.path, env })
      assertOneLine(await run({ APP_URL: 'pay' }), /APP_URL must be an origin/)
      assertOneLine(await run({ NODE_ENV: 'production' }), /embedded database.* — .*DATABASE_URL/)
      const ending = await run({ DATABASE_URL: 'postgres://user:hush@127.0.0.1:1/billing' })
      assertOneLine(ending, /127\.0\.0\.1:1.* — .*DATABASE_URL/)
      assert.doesNotMatch(ending.stderr.join('\n'), /hush/)
    })
  }

  test('what several processes cannot share is said once, before any of them starts', async () => {
    using folder = temporaryFolder()
    const run = (count: string, env: Environment = {}) =>
      runHosted(['serve', '--processes', count], { cwd: folder.path, env })
    assertOneLine(await run('2', { BILLING_QUEUE_CONNECTION: 'redis' }), /BILLING_QUEUE_CONNECTION/)
    const embedded = /needs a PostgreSQL server: the embedded database belongs to one process/
    assertOneLine(await run('2'), embedded)
    for (const count of ['0', '1.5', 'many', '65']) {
      const { code, stderr } = await run(count)
      assert.equal(code, 2)
      assert.match(stderr.join('\n'), /must be a number from 1 to 64, or auto/)
    }
  })

  test('a .env that cannot be read', async () => {
    using folder = temporaryFolder()
    mkdirSync(join(folder.path, '.env'))
    const ending = await runHosted(['serve'], { cwd: folder.path })
    assertOneLine(ending, /^quittance: \.env cannot be read: .* — Correct/)
  })
})

onPostgres((engine) => {
  let folder: TemporaryFolder
  let empty: TestDatabase
  let migrated: TestDatabase
  before(async () => {
    folder = temporaryFolder()
    empty = await engine.createEmpty()
    migrated = await engine.create()
  })
  after(async () => {
    await empty.drop()
    await migrated.drop()
    folder.remove()
  })
  const run = (command: string, env: Environment) => runHosted([command], { cwd: folder.path, env })

  test('a database that does not exist stops the start with one line', async () => {
    const missing = new URL(empty.url ?? '')
    missing.pathname = '/no_such_database'
    const ending = await run('serve', { DATABASE_URL: missing.href })
    assertOneLine(ending, /no_such_database.* — .*DATABASE_URL/)
  })

  test('a database that was never migrated stops the start in production', async () => {
    const env = { DATABASE_URL: empty.url ?? '', NODE_ENV: 'production', HOST: '127.0.0.1' }
    assertOneLine(await run('serve', env), /lacks .*migration.* — Run: quittance migrate/)
  })

  test('a listener that this process lacks stops the start', async () => {
    const { url = '' } = migrated
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(
      `insert into billing.listeners (name, event_types, queued)
       values ('known', '{PaymentSucceeded}', false)`,
    )
    await client.end()
    for (const command of ['serve', 'work']) {
      assertOneLine(await run(command, { DATABASE_URL: url }), /lacks .* known/)
    }
  })
})
