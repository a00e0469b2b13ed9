import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { builtin } from '../gateways/builtin.ts'
import { readConfiguration } from './env.ts'
import { variableNames } from './read-variables.ts'

const ofGateways = builtin.flatMap(({ credentials }) =>
  Object.values(credentials).flatMap(({ env }) => env),
)
const names = [...variableNames, ...ofGateways]

let before: NodeJS.ProcessEnv
beforeEach(() => {
  before = { ...process.env }
  for (const name of names) delete process.env[name]
})
afterEach(() => {
  for (const name of names) delete process.env[name]
  Object.assign(process.env, before)
})

test('a blank variable counts as not set, each of them', async () => {
  using folder = temporaryFolder()
  const unset = await readConfiguration(folder.path)
  for (const blank of ['', ' ', '\t \n']) {
    for (const name of names) process.env[name] = blank
    assert.deepEqual(await readConfiguration(folder.path), unset, JSON.stringify(blank))
  }
})

test('.env counts from its first byte, and stops the start where it cannot be read', async () => {
  using folder = temporaryFolder()
  const write = (content: string | Buffer) => writeFileSync(join(folder.path, '.env'), content)
  process.env['BILLING_QUEUE'] = 'of_the_environment'
  write('\ufeffNODE_ENV=production\nBILLING_QUEUE=of_the_file\n')
  const { options } = await readConfiguration(folder.path)
  assert.deepEqual([options.production, options.billing.queue.queue], [true, 'of_the_environment'])
  const rows = [
    [
      '# mine\nSTRIPE_SIGNING_SECRET=whsec_a#b',
      /^\.env:2: the value of STRIPE_SIGNING_SECRET would/,
    ],
    [Buffer.from('\ufeffPORT=1', 'utf16le'), /^\.env must be UTF-8 text$/],
  ] as const
  for (const [content, message] of rows) {
    write(content)
    await assert.rejects(readConfiguration(folder.path), { code: 'setting_invalid', message })
  }
})

test('so does a blank URL of the database in the configuration file', async () => {
  using folder = temporaryFolder()
  const { database } = (await readConfiguration(folder.path)).options
  writeFileSync(
    join(folder.path, 'quittance.config.js'),
    "export default { database: { url: process.env.DATABASE_URL ?? ' ' } }",
  )
  assert.deepEqual((await readConfiguration(folder.path)).options.database, database)
  process.env['DATABASE_URL'] = 'postgres://127.0.0.1/billing'
  const { options } = await readConfiguration(folder.path)
  assert.deepEqual(options.database, { ...database, url: 'postgres://127.0.0.1/billing' })
})

test('a file with defineConfig says the same as one without, and its faults name its own keys', async () => {
  using folder = temporaryFolder()
  const options = pathToFileURL(join(import.meta.dirname, '../billing/options.ts')).href
  const load = async (name: string, config: string) => {
    const own = join(folder.path, name)
    mkdirSync(own)
    writeFileSync(
      join(own, 'quittance.config.mjs'),
      `import { defineConfig } from '${options}'\nexport default ${config}`,
    )
    return await readConfiguration(own)
  }
  const config = `{ webhook: { prune_after_days: 40 }, http: { max_connections: 20 } }`
  const plain = await load('plain', config)
  assert.deepEqual([plain.options.webhook.pruneAfterDays, plain.http.maxConnections], [40, 20])
  assert.deepEqual(await load('defined', `defineConfig(${config})`), plain)
  const old = `{ webhook: { pruneAfterDays: 40 }, http: { maxConnections: 20 } }`
  assert.deepEqual(await load('camel', old), plain)
  const wrong = `defineConfig({ webhook: { prune_after_days: 0, path: 'x' } })`
  await assert.rejects(load('wrong', wrong), {
    code: 'setting_invalid',
    message: /^quittance\.config\.mjs: webhook\.prune_after_days must be .* days .*, got 0$/,
  })
})

test('a file that fails while it is read is a fault of the file', async () => {
  using folder = temporaryFolder()
  writeFileSync(
    join(folder.path, 'quittance.config.mjs'),
    `export default { get url() { throw new Error('no URL yet') } }`,
  )
  const message = 'quittance.config.mjs: no URL yet'
  await assert.rejects(readConfiguration(folder.path), { code: 'setting_invalid', message })
})

test('a listener of any name is read from the file, which may be TypeScript in an app in CommonJS', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "commonjs" }')
  writeFileSync(
    join(folder.path, 'quittance.config.mts'),
    `export default { listeners: { ['__proto__']: { on: 'PaymentSucceeded', run(): void {} } } }`,
  )
  const { listeners } = (await readConfiguration(folder.path)).options
  assert.deepEqual(Object.keys(listeners), ['__proto__'])
})

test('every variable of a setting counts, and wins over the file', async () => {
  using folder = temporaryFolder()
  writeFileSync(
    join(folder.path, 'quittance.config.mjs'),
    `export default {
      url: 'https://file.example',
      review: { unknown_payments: true },
      subscriptions: { grace_access: true, retry_days: [2] },
      plans: { pro_month: { amount: 9900, currency: 'UAH', every: 'month', trial_days: 7 } },
      return_origins: ['https://file.example'],
      billing: { queue: { queue: 'file' } },
      production: true,
    }`,
  )
  Object.assign(process.env, {
    APP_URL: 'https://app.example',
    APP_NGROK_URL: 'https://tunnel.example/',
    BILLING_REVIEW_UNKNOWN_PAYMENTS: 'off',
    BILLING_GRACE_ACCESS: 'off',
    BILLING_RETURN_ORIGINS: 'https://a.example, https://b.example/',
    BILLING_QUEUE: 'urgent',
    BILLING_QUEUE_CONNECTION: 'sync',
    BILLING_HTTP_KEEP_ALIVE_SECONDS: '7',
    BILLING_API_TOKEN: ' , undefined,',
    BILLING_METRICS_TOKEN: 'token-of-the-metrics , former',
    BILLING_CONSOLE: 'on',
    BILLING_CONSOLE_HOSTS: 'admin.example, localhost:8080',
    BILLING_OPERATIONS_PORT: '9464',
    NODE_ENV: 'development',
    PORT: '4000',
    npm_lifecycle_event: 'start',
  })
  const { options, metricsToken, ...service } = await readConfiguration(folder.path)
  const tokens = metricsToken?.map((token) => token.reveal())
  assert.deepEqual(tokens, ['token-of-the-metrics', 'former'])
  assert.deepEqual(
    [options.url, options.review, options.returnOrigins, options.billing.queue],
    [
      'https://tunnel.example',
      { unknownPayments: false },
      ['https://a.example', 'https://b.example'],
      { connection: 'sync', queue: 'urgent' },
    ],
  )
  assert.equal(options.subscriptions.graceAccess, false)
  assert.deepEqual(options.subscriptions.retryDays, [2])
  assert.deepEqual(options.plans['pro_month'], {
    amount: 9900n,
    currency: 'UAH',
    every: { unit: 'month', count: 1 },
    trialDays: 7,
  })
  assert.equal(options.production, false)
  assert.deepEqual(service, {
    apiToken: undefined,
    readToken: undefined,
    console: { on: true, hosts: ['admin.example', 'localhost:8080'] },
    operations: { host: '127.0.0.1', port: 9464 },
    host: '127.0.0.1',
    isRunByNpm: true,
    isUrlSet: true,
    http: { maxConnections: 1000, connectionsPerAddress: 50, keepAliveSeconds: 7 },
    port: 4000,
    process: undefined,
    runToken: undefined,
  })
})
