import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { sql } from 'kysely'
import type { BillingOptions } from '../../src/billing/options.ts'
import { optionSettings, variableSettings } from '../../src/billing/settings-schema.ts'
import { settingsIn, variablesOf } from '../../src/billing/setting.ts'
import { operatorConsole } from '../../src/console/index.ts'
import { createApp } from '../../src/http/app.ts'
import { days } from '../../src/kernel/duration.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { secret } from '../../src/kernel/secret.ts'
import { newToken } from '../../src/operators/tokens.ts'
import { visiting } from '../console/visitor.ts'
import { maxBodyBytes } from '../http/service.ts'
import { startReceiver } from '../outbound/receiver.ts'
import { recordSpans, textOf } from '../spans/recorded-spans.ts'
import { newPayment, openBilling, sendFake, until, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { stating } from '../support/stating-gateway.ts'

const whsec = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`
const databasePassword = 'p#canary of/the database'
const directPassword = 'canary-of-the-direct-database'
const words = {
  apiToken: 'canary"of\\the-API',
  readToken: 'canary-of-the-reader',
  formerReadToken: 'canary-of-the-reader-before',
  metricsToken: 'canary-of-the-metrics',
  runToken: 'canary-of-the-run',
  encryptionKey: Buffer.alloc(32, 9).toString('base64'),
  formerKey: Buffer.alloc(32, 8).toString('base64'),
  hook: whsec(5),
  declared: whsec(6),
  stripe: whsec(7),
  stripeApi: 'sk_test_canary_of_an_account',
  scripted: 'canary-of-the-scripted-provider',
  scriptedVariable: 'canary-of-its-other-variable',
}

/** Where each setting that is marked has its secret; of a new one this test does not know. */
const given: Readonly<
  Record<string, { readonly option?: BillingOptions; readonly text?: string }>
> = {
  'database.url': {
    text: `postgres://shop:${encodeURIComponent(databasePassword)}@db.example.test/shop`,
  },
  'database.directUrl': { text: `postgres://shop@db.example.test/?password=${directPassword}` },
  'billing.encryptionKey': {
    option: { billing: { encryptionKey: `${words.encryptionKey},${words.formerKey}` } },
  },
  'forward.endpoints': {},
  'forward.secret': {},
  gateways: {
    option: {
      gateways: {
        stripe: { signing_secret: words.stripe },
        'stripe-eu': { driver: 'stripe', secret_key: words.stripeApi },
        leaking: { api_key: words.scripted },
      },
    },
  },
  apiToken: { text: words.apiToken },
  readToken: { text: `${words.readToken},${words.formerReadToken}` },
  metricsToken: { text: words.metricsToken },
}

const operatorToken = newToken()
/** Not set here: it is known by its look alone. */
const strange = 'canary-of-another-url'
const canaries = [
  ...Object.values(words),
  ...[words.hook, words.declared, words.stripe].map((one) => one.slice('whsec_'.length)),
  databasePassword,
  encodeURIComponent(databasePassword),
  directPassword,
  operatorToken,
]
const asJson = JSON.stringify({ all: canaries })
const asQuery = canaries.map((one) => encodeURIComponent(one)).join('&')
const leak = () =>
  [`redis://cache:${strange}@cache.example.test`, ...canaries, asJson, asQuery].join(' ; ')

const leaking = {
  ...stating,
  name: 'leaking',
  credentials: {
    ...stating.credentials,
    api_key: {
      env: ['LEAKING_API_KEY'],
      secret: true,
      required: false,
      description: 'For requests.',
    },
  },
  apiCredential: 'api_key',
  checkout: {
    kind: 'api' as const,
    open: () => Promise.reject(new QuittanceError('provider_refused', leak())),
  },
  poll: () =>
    Promise.reject(new QuittanceError('provider_refused', leak(), { cause: new Error(leak()) })),
  backfill: {
    keptFor: days(1),
    eventIdOf: () => undefined,
    // As a client of another's making throws: with all that it has sent.
    list: () => {
      throw Object.assign(new Error(leak()), { request: { headers: { authorization: leak() } } })
    },
  },
}

/** All rows of all tables. */
async function dumpOf({ db }: TestBilling['database']): Promise<string> {
  const { rows } = await sql<{ dump: string }>`
    select schema_to_xml('billing', true, false, '')::text as dump`.execute(db)
  return rows[0]?.dump ?? ''
}

const isMarked = ({ setting }: ReturnType<typeof settingsIn>[number]) => setting.secret === true

onAnyDatabase((engine) => {
  test('no secret that is set gets out, whoever repeats it', async () => {
    const marked = [...settingsIn(variableSettings), ...settingsIn(optionSettings)].filter(isMarked)
    const names = new Set(marked.map(({ path }) => path.join('.')))
    assert.deepEqual([...names].toSorted(), Object.keys(given).toSorted())

    await using shop = await startReceiver((_received, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(leak())
    })
    shop.secret = words.hook
    const texts = settingsIn(variableSettings).flatMap((one) => {
      const text = given[one.path.join('.')]?.text
      return text === undefined ? [] : variablesOf(one).map((name) => [name, text] as const)
    })
    const { log, lines } = capturedLog()
    const recorded = recordSpans()
    await using billing = await openBilling(engine, {
      log,
      tracer: recorded.tracer,
      ...given['billing.encryptionKey']?.option,
      ...given['gateways']?.option,
      extraGateways: [leaking],
      environment: {
        ...Object.fromEntries(texts),
        QUITTANCE_RUN_TOKEN: words.runToken,
        LEAKING_API_KEY: words.scriptedVariable,
      },
      forward: {
        url: shop.url,
        secret: words.hook,
        endpoints: { other: { url: 'http://127.0.0.1:9/', secret: words.declared } },
      },
    })
    const { core, database } = billing
    const say = () => {
      throw new Error(leak(), { cause: new Error(leak()) })
    }
    core.on('PaymentSucceeded', 'grant', say)
    core.on(
      'PaymentFailed',
      'ask',
      async () => {
        await sql`select ${leak()}::text::int`.execute(database.db)
      },
      { queued: true },
    )
    core.on('PaymentFailed', 'remind', say, { queued: true })
    await core.work()
    // It gets what comes from then on.
    const isDeclared = async () => (await core.endpoints.get('default')) !== undefined
    await until(isDeclared, { what: 'the shop is declared' })
    const paid = await newPayment(core)
    await sendFake(core, (await newPayment(core)).id, 'failure')
    await sendFake(core, paid.id, 'success')
    const input = {
      gateway: 'leaking',
      amount: 4999,
      currency: 'USD',
      payable: { type: 'order', id: '7' },
    }
    const app = createApp(core, {
      apiToken: [secret(words.apiToken)],
      maxBodyBytes,
      webhookMiddleware: [],
      log,
    })
    const answers: string[] = []
    const ask = async (path: string, body?: unknown) => {
      const headers = {
        authorization: `Bearer ${words.apiToken}`,
        'content-type': 'application/json',
      }
      const sent =
        body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
      const answer = await app.request(`/billing/api${path}`, sent)
      answers.push(await answer.text())
      return answer.status
    }
    assert.equal(await ask('/payments', input), 502)
    const unasked = await core.payments.create({ ...input, checkout: false })
    const thrown = await Promise.allSettled([
      core.payments.poll(unasked.id),
      core.backfill({ gateway: 'leaking', since: new Date() }),
    ])
    assert.ok(thrown.every(({ status }) => status === 'rejected'))
    // The guard of an app throws, too.
    const pagesOfApp = operatorConsole(core, {
      path: '/admin',
      hosts: ['admin.example.test'],
      authenticate: say,
      log,
    })
    const guarded = await pagesOfApp.fetch(new Request('https://admin.example.test/admin'))
    assert.equal(guarded.status, 500)
    answers.push(await guarded.text())
    assert.equal(await ask('/endpoints/default/test', {}), 200)
    const attempts = () => core.endpoints.attempts('default')
    await until(async () => (await attempts()).data.length > 0, { what: 'the shop refused' })
    for (const name of ['listener grant', 'delivery ask', 'delivery remind']) {
      const has = () => recorded.spans().some((span) => span.name === name)
      await until(has, { what: `${name} has failed` })
    }
    // What a span says is written a moment later.
    const failed = async () => (await dumpOf(database)).split('Error: ').length > 6
    await until(failed, { what: 'the failures are stored' })
    for (const path of ['/payments', '/webhook-calls', '/events', '/endpoints/default/attempts']) {
      assert.equal(await ask(path), 200, path)
    }
    const [call] = (await core.calls.list({ limit: 1 })).data
    const olena = visiting(core)('olena', 'viewer')
    const pages = ['', '/failed', `/calls/${call?.id}`, `/payments/${paid.id}`, '/settings']
    for (const path of [...pages, '/endpoints/default']) {
      const page = await olena.open(path)
      assert.equal(page.status, 200, path)
      answers.push(page.html)
    }
    const said: Readonly<Record<string, string>> = {
      log: JSON.stringify(lines),
      database: await dumpOf(database),
      answers: answers.join('\n'),
      thrown: inspect(thrown, { depth: 9 }),
      metrics: (await core.metrics()).text,
      traces: recorded.spans().map(textOf).join('\n'),
    }
    for (const [place, text] of Object.entries(said)) {
      assert.ok(text.length > 100, place)
      const found = [...canaries, strange].filter((one) =>
        [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)].some((spelling) =>
          text.includes(spelling),
        ),
      )
      assert.deepEqual(found, [], place)
    }
    for (const place of ['log', 'database', 'answers', 'thrown', 'traces']) {
      assert.match(said[place] ?? '', /\[secret\]/, place)
    }
  })
})
