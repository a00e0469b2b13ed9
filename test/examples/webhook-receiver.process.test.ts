import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { cpSync, existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { newUuid } from '../../src/kernel/ids.ts'
import { codeBlocks } from '../docs/markdown.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  createOverHttp,
  deployOpen,
  finished,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { interpreter } from '../support/interpreters.ts'
import {
  freePort,
  runCommand,
  startProcess,
  startService,
  type RunningProcess,
  type RunningService,
} from '../support/process.ts'
import { isCaughtWithin } from './caught-within.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { read, root } from '../tidy/source-files.ts'

const readToken = 'token-that-only-reads'

interface Example {
  readonly file: 'receiver.py' | 'receiver.php'
  readonly language: ReturnType<typeof interpreter>
}

const examples: readonly Example[] = [
  { file: 'receiver.py', language: interpreter('python3') },
  { file: 'receiver.php', language: interpreter('php') },
]

interface StartOptions {
  readonly shop: string
  readonly secrets: string
  readonly port?: number
  readonly env?: Readonly<Record<string, string>>
  readonly phpFlags?: readonly string[]
}

interface RunningReceiver extends RunningProcess {
  readonly port: number
  readonly url: string
}

async function launch({ file, language }: Example, options: StartOptions) {
  const { shop, secrets, env = {}, phpFlags = [] } = options
  const port = options.port ?? (await freePort())
  const path = join(root, 'examples/webhook-receiver', file)
  const isPhp = language.program === 'php'
  const running = startProcess(isPhp ? [...phpFlags, '-S', `127.0.0.1:${port}`, path] : [path], {
    runtime: language.program,
    env: { WEBHOOK_SECRET: secrets, SHOP_DATABASE: shop, PORT: String(port), ...env },
  })
  return { ...running, port, url: `http://127.0.0.1:${port}/hooks` }
}

async function start(example: Example, options: StartOptions): Promise<RunningReceiver> {
  const receiver = await launch(example, options)
  await receiver.line(/listening on|Development Server/)
  return receiver
}

type Headers = Readonly<Record<string, string>>

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

/** Signed by the library of the standard, now or so many seconds later. */
function signed(body: string, { secret = '', id = newUuid(), later = 0 }): Headers {
  const at = new Date(Date.now() + later * 1000)
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  }
}

/** What a receiver answers. */
async function post({ url }: { readonly url: string }, headers: Headers, body: string) {
  const answer = await fetch(url, { method: 'POST', headers, body })
  return { status: answer.status, text: (await answer.text()).trim() }
}

const eventAbout = (order: string, more: object = {}) =>
  JSON.stringify({
    type: 'PaymentSucceeded',
    data: {
      payment: {
        id: newUuid(),
        type: 'charge',
        status: 'paid',
        payable: { type: 'order', id: order },
        ...more,
      },
    },
  })

/** A shop with these orders, where storing an event takes so long that it can be killed meanwhile. */
function openShop(folder: string, orders: readonly string[], slowness = 1) {
  const path = join(folder, `${newUuid()}.db`)
  const shop = new DatabaseSync(path, { timeout: 30_000 })
  shop.exec(`
    create table orders (id text primary key, paid integer not null default 0);
    create table history (webhook_id text, event text, order_id text, status text);
    create table received (webhook_id text primary key);
    create trigger slow_effect after insert on history begin
      select count(*) from (with recursive n (at) as
        (select 1 union all select at + 1 from n limit ${slowness}) select at from n);
    end`)
  const insert = shop.prepare('insert into orders (id) values (?)')
  for (const id of orders) insert.run(id)
  const column = (query: string) =>
    shop
      .prepare(query)
      .all()
      .map((row) => String(Object.values(row)[0]))
  return {
    path,
    journal: `${path}-journal`,
    exec: (statement: string) => shop.exec(statement),
    received: () => column('select webhook_id from received order by 1'),
    /** Which events had an effect, each as often as it had. */
    history: () => column('select webhook_id from history order by 1'),
    paid: () => column('select id from orders where paid = 1 order by 1'),
    [Symbol.dispose]: () => shop.close(),
  }
}

for (const example of examples) {
  const { file, language } = example
  describe(
    `${file} verifies as the library of the standard signs:`,
    { skip: language.missing },
    () => {
      const secret = newSecret()
      const replaced = newSecret()
      let folder: TemporaryFolder
      let shop: ReturnType<typeof openShop>
      let receiver: RunningReceiver
      before(async () => {
        folder = temporaryFolder()
        shop = openShop(folder.path, ['42'])
        receiver = await start(example, { shop: shop.path, secrets: `${secret} ${replaced}` })
      })
      after(async () => {
        await receiver.kill()
        shop[Symbol.dispose]()
        folder.remove()
      })
      beforeEach(() => {
        shop.exec('delete from received; delete from history; update orders set paid = 0')
      })
      afterEach(() => {
        const written = [...receiver.stdout, ...receiver.stderr].join('\n')
        for (const one of [secret, replaced]) assert.ok(!written.includes(one.slice(6)), written)
      })

      const body = eventAbout('42')
      const refuses = async (headers: Headers, answered: RegExp, sent = body) => {
        const { status, text } = await post(receiver, headers, sent)
        assert.match(`${status} ${text}`, answered, JSON.stringify(headers))
        assert.deepEqual([shop.received(), shop.history(), shop.paid()], [[], [], []])
      }
      const takes = async (headers: Headers, sent = body) => {
        assert.deepEqual(await post(receiver, headers, sent), { status: 200, text: 'stored' })
        assert.equal(shop.received().includes(headers['webhook-id'] ?? ''), true)
      }

      test('what is right is taken, whatever is in it, and what comes again changes nothing', async () => {
        const headers = signed(body, { secret })
        await takes(headers)
        const again = await post(receiver, headers, body)
        assert.deepEqual(again, { status: 200, text: 'stored before' })
        const later = signed(body, { secret, id: headers['webhook-id'] ?? '', later: 20 })
        assert.deepEqual(await post(receiver, later, body), again)
        assert.deepEqual([shop.history(), shop.paid()], [[headers['webhook-id']], ['42']])
        for (const text of ['Олена \u2028 \u{1f600} "\\', ' '.repeat(60_000)]) {
          const special = eventAbout('42', { description: text })
          await takes(signed(special, { secret }), special)
        }
      })

      test('another secret, body, id or timestamp is refused', async () => {
        const headers = signed(body, { secret })
        const wrong = /^401 no signature/
        await refuses(signed(body, { secret: newSecret() }), wrong)
        await refuses(headers, wrong, body.replace('"42"', '"43"'))
        await refuses(headers, wrong, `${body} `)
        await refuses(headers, wrong, '')
        await refuses({ ...headers, 'webhook-id': newUuid() }, wrong)
        const timestamp = String(Number(headers['webhook-timestamp']) + 1)
        await refuses({ ...headers, 'webhook-timestamp': timestamp }, wrong)
      })

      test('a timestamp may be 5 minutes off, before and after, and no more', async () => {
        for (const later of [-270, 270]) await takes(signed(body, { secret, later }))
        shop.exec('delete from received; delete from history; update orders set paid = 0')
        for (const later of [-301, 330, -86_400, 1e9]) {
          await refuses(signed(body, { secret, later }), /^401 .* more than 5 minutes off/)
        }
      })

      test('one right signature is enough, whatever stands beside it', async () => {
        const right = signed(body, { secret })
        const text = right['webhook-signature'] ?? ''
        const { 'webhook-signature': other = '' } = signed(body, { secret: newSecret() })
        const withSignature = (signature: string) => ({ ...right, 'webhook-signature': signature })
        const umlaut = 'v1,\u00fc'
        for (const beside of [other, 'v1', 'v1,', 'v1a,AAAA', 'v2,AAAA', 'none', umlaut]) {
          await refuses(withSignature(beside), /^401 no signature/)
          await refuses(withSignature(`${beside} ${other}`), /^401 no signature/)
        }
        await refuses(withSignature(text.replace('v1,', 'v2,')), /^401 no signature/)
        await refuses(withSignature(text.slice(3)), /^401 no signature/)
        await refuses(withSignature(text.slice(0, -1)), /^401 no signature/)
        await refuses(withSignature(`${text}A`), /^401 no signature/)
        const many = `${other} v1a,AAAA ${umlaut} ${text}  none`
        await takes(withSignature(many))
        assert.deepEqual(shop.received(), [right['webhook-id']])
      })

      test('while a secret is exchanged each of the two is good, alone and beside the other', async () => {
        await takes(signed(body, { secret: replaced }))
        await takes(signed(body, { secret }))
        const id = newUuid()
        const both = [secret, replaced].map((one) => signed(body, { secret: one, id }))
        const signatures = both.map((one) => one['webhook-signature']).join(' ')
        await takes({ ...both[0], 'webhook-signature': signatures })
      })

      test('without one of the three headers it is refused, and the answer says so', async () => {
        const headers = signed(body, { secret })
        for (const name of Object.keys(headers)) {
          const { [name]: _left, ...rest } = headers
          await refuses(rest, new RegExp(`^400 .*${name}.* is missing`))
          await refuses({ ...rest, [name]: '' }, /^400 .* is missing/)
        }
        await refuses({}, /^400 .* is missing/)
        for (const timestamp of ['soon', '-1', '1e9', '0x10', '9'.repeat(5_000)]) {
          const odd = { ...headers, 'webhook-timestamp': timestamp }
          await refuses(odd, /^400 .* no number of seconds/)
        }
      })

      test('what cannot be committed is not answered 2xx, and is stored when it comes again', async () => {
        const headers = signed(body, { secret })
        shop.exec(`create trigger broken before update on orders
        begin select raise(abort, 'the shop is broken'); end`)
        await refuses(headers, /^500 not stored/)
        await receiver.line(/the shop is broken/)
        shop.exec('drop trigger broken')
        await takes(headers)
        assert.deepEqual([shop.history(), shop.paid()], [[headers['webhook-id']], ['42']])
      })

      test('what is no event of a payment is stored, and does nothing', async () => {
        for (const data of [{}, { payment: null }, { endpoint: { id: newUuid() } }]) {
          const other = JSON.stringify({ type: 'EndpointTest', data })
          await takes(signed(other, { secret }), other)
        }
        assert.equal(shop.received().length, 3)
        assert.deepEqual(shop.history(), [])
      })
    },
  )

  describe(`${file} on its own:`, { skip: language.missing }, () => {
    test('without a secret, or with one that is none, it takes nothing, whoever signs', async () => {
      using folder = temporaryFolder()
      using shop = openShop(folder.path, ['42'])
      const good = newSecret()
      const hidden = good.slice(6)
      const body = eventAbout('42')
      const short = Buffer.from('short').toString('base64')
      for (const secrets of ['', ' ', 'whsec_', `whsec_${short}`, hidden, `${good} ${hidden}`]) {
        const receiver = await launch(example, { shop: shop.path, secrets })
        if (language.program === 'python3') {
          const { code } = await receiver.ended
          assert.equal(code, 1)
        } else {
          await receiver.line(/Development Server/)
          const headers = signed(body, { secret: good })
          const { 'webhook-id': id, 'webhook-timestamp': at } = headers
          for (const key of ['', 'short', Buffer.from(hidden, 'base64')]) {
            const digest = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
            const forged = { ...headers, 'webhook-signature': `v1,${digest}` }
            const { status, text } = await post(receiver, forged, body)
            assert.deepEqual([status, text], [500, 'not stored: the log says why'], secrets)
          }
          await receiver.kill()
        }
        const written = [...receiver.stdout, ...receiver.stderr].join('\n')
        assert.match(written, /WEBHOOK_SECRET (?:is not set|must be whsec_ and base64)/)
        assert.ok(!written.includes(hidden), written)
      }
      assert.deepEqual(shop.received(), [])
    })

    if (language.program === 'php') {
      test('where PHP itself gives up, and would show that with 200, the answer is 500', async () => {
        using folder = temporaryFolder()
        using shop = openShop(folder.path, ['42'])
        const secret = newSecret()
        const phpFlags = ['-d', 'display_errors=1', '-d', 'memory_limit=4M']
        const receiver = await start(example, { shop: shop.path, secrets: secret, phpFlags })
        const body = eventAbout('42', { metadata: Array.from({ length: 300_000 }, () => [1]) })
        const { status, text } = await post(receiver, signed(body, { secret }), body)
        assert.deepEqual([status, text, shop.received()], [500, '', []])
        await receiver.line(/Allowed memory size/)
        await receiver.kill()
      })
    }
  })
}

describe("the README's steps, as they stand:", () => {
  const path = 'examples/webhook-receiver/README.md'
  const [settings = '', python = '', php = '', payment = ''] = codeBlocks({
    path,
    text: read(path),
  }).map(({ code }) => code.trim())
  const steps = { python3: python, php }
  let checkout: TemporaryFolder
  let service: RunningService
  let port: number
  const typed = (lines: string, cwd: string) =>
    startProcess(['-c', lines.replaceAll('8000', String(port))], {
      runtime: 'bash',
      cwd,
      env: { PORT: String(port) },
    })
  before(async () => {
    checkout = temporaryFolder()
    port = await freePort()
    for (const { language } of examples) {
      const copy = join(checkout.path, 'examples', language.program)
      cpSync(join(root, 'examples/webhook-receiver'), copy, { recursive: true })
    }
    fillDataFolder(join(checkout.path, '.quittance'))
    const { code, stderr } = await typed(settings, checkout.path).ended
    assert.equal(code, 0, stderr.join('\n'))
    service = await startService({ cwd: checkout.path })
  })
  after(async () => {
    await service.stop()
    checkout.remove()
  })

  for (const { language } of examples) {
    test(`an order is paid, in ${language.program}`, { skip: language.missing }, async () => {
      // The shell becomes what it starts last, so that this can be ended.
      const lines = steps[language.program].replace(/\n(?=.*$)/, '\nexec ')
      const cwd = join(checkout.path, 'examples', language.program)
      const receiver = typed(lines, cwd)
      await receiver.line(/listening on|Development Server/)
      // The shop is there before the first webhook.
      using shop = new DatabaseSync(join(cwd, 'shop.db'), { readOnly: true })
      assert.equal(shop.prepare('select paid from orders where id = 42').get()?.['paid'], 0)
      const env = { PORT: new URL(service.url).port }
      for (const line of payment.split('\n')) {
        const [, words = ''] = /^npm run quittance -- (.+)$/.exec(line) ?? []
        const ran = await runCommand(words.split(' '), { cwd: checkout.path, env })
        assert.equal(ran.code, 0, `${line}: ${ran.stderr.join('\n')}`)
      }
      await receiver.line(/order 42 is paid/)
      await receiver.kill()
    })
  }
})

type Json = Readonly<Record<string, unknown>>

interface Attempt {
  readonly event_id: string
  readonly result: string
  readonly status: number | null
  readonly response: string | null
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let service: RunningService
  before(async () => {
    deployment = await deployOpen(engine)
    const { cwd, env } = deployment
    const key = randomBytes(32).toString('base64')
    const more = { BILLING_READ_TOKEN: readToken, BILLING_ENCRYPTION_KEY: key }
    service = await startService({ cwd, env: { ...env, ...more } })
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  const call = async (method: string, path: string, given?: Json): Promise<Json> => {
    const answer = await fetch(`${service.url}/billing/api/endpoints${path}`, {
      method,
      ...(given !== undefined && { body: JSON.stringify(given) }),
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    })
    assert.ok(answer.ok, `${method} ${path}: ${answer.status}`)
    return (await answer.json()) as Json
  }

  /** An endpoint of a test's own: it gets what becomes of payments from then on. */
  const makeEndpoint = async (url: string, more: Json = {}) => {
    const { db } = deployment.database
    const event_types = ['PaymentSucceeded', 'PaymentFailed']
    const { id, secret } = await call('POST', '', { name: newUuid(), url, event_types, ...more })
    const path = `/${String(id)}`
    const attempts = async (event?: string) => {
      const only = event === undefined ? '' : `&event_id=${event}`
      const { data } = await call('GET', `${path}/attempts?limit=100${only}`)
      return data as readonly Attempt[]
    }
    /** What waits for its time is sent now. */
    const makeDue = async () => {
      await sql`update billing.endpoints set next_at = statement_timestamp()
        where id = ${id}::uuid and next_at is not null`.execute(db)
      await sql`update billing.forwards set next_attempt_at = statement_timestamp()
        where endpoint_id = ${id}::uuid and next_attempt_at is not null`.execute(db)
    }
    const hasAll = async () => {
      await makeDue()
      const { rows } = await sql<{ all: boolean }>`
        select position >= (select count(*) from billing.events) and not exists (
          select from billing.forwards where endpoint_id = one.id and state <> 'delivered') as all
        from billing.endpoints as one where id = ${id}::uuid`.execute(db)
      return rows[0]?.all === true
    }
    return {
      secret: String(secret),
      post: (action: string, given?: Json) => call('POST', `${path}/${action}`, given),
      attempts,
      makeDue,
      /** It has got this event so many times. */
      delivered: async (event: string, times: number) => {
        const hasBeen = async () => {
          await makeDue()
          const all = await attempts(event)
          return all.filter(({ result }) => result === 'delivered').length === times
        }
        await until(hasBeen, { what: `${event} was delivered` })
      },
      /** It has got all that has happened. */
      served: async () => {
        await finished(deployment.database)
        await until(hasAll, { what: 'all is delivered' })
      },
      remove: () => call('DELETE', path),
    }
  }

  const sell = async (id: string, results: readonly ('success' | 'failure')[] = ['success']) => {
    assert.ok(await createOverHttp(service.url, id))
    for (const result of results) assert.equal(await postFake(service.url, id, result), 200)
  }

  /** The events of these orders, in the order of the feed. */
  const eventsOf = async (...orders: readonly string[]) => {
    await finished(deployment.database)
    const { rows } = await sql<{ id: string }>`select id from billing.events
      where payment_id = any(${[...orders]}::uuid[]) order by position, id`.execute(
      deployment.database.db,
    )
    return rows.map(({ id }) => id)
  }

  for (const example of examples) {
    const { file, language } = example
    describe(`${file} behind a service:`, { skip: language.missing }, () => {
      let folder: TemporaryFolder
      let port: number
      before(() => {
        folder = temporaryFolder()
      })
      // A port of its own: what a test that failed has left listens on another.
      beforeEach(async () => {
        port = await freePort()
      })
      after(() => folder.remove())

      test('killed again and again, each event has its effect once, also when all come again', async () => {
        const rounds = Array.from({ length: 6 }, () => outcomes.map(newUuid))
        const orders = rounds.flat()
        using shop = openShop(folder.path, orders, 300_000)
        const endpoint = await makeEndpoint(`http://127.0.0.1:${port}/hooks`)
        const restart = () => start(example, { port, shop: shop.path, secrets: endpoint.secret })
        let within = 0
        for (const [round, ids] of rounds.entries()) {
          const before = shop.history().length
          const receiver = await restart()
          const selling = Promise.all(ids.map((id, at) => sell(id, outcomes[at])))
          // Within a transaction, right after one, and at any time.
          const moments = [
            () => isCaughtWithin(receiver, shop.journal),
            () => shop.history().length > before,
          ]
          const then = Date.now() + Math.random() * 1_500
          const isTime = moments[round % 3] ?? (() => Date.now() > then)
          // A request of before that fails only now would make all the others wait.
          const sending = setInterval(() => void endpoint.makeDue().catch(() => {}), 500)
          await until(isTime, { what: 'it is time', everyMs: 5 }).finally(() =>
            clearInterval(sending),
          )
          await receiver.kill()
          if (existsSync(shop.journal)) within += 1
          await selling
        }
        const receiver = await restart()
        await endpoint.served()
        assert.ok(within > 0, 'none of the kills came within a transaction')
        const events = await eventsOf(...orders)
        const paid = orders.filter((_id, at) => at % outcomes.length !== declined)
        const assertOnce = () => {
          assert.deepEqual(shop.history(), events.toSorted())
          assert.deepEqual(shop.paid(), paid.toSorted())
        }
        assert.equal(events.length, rounds.length * outcomes.flat().length)
        assertOnce()
        assert.ok((await endpoint.attempts()).some(({ result }) => result !== 'delivered'))

        const [first = '', second = ''] = events
        await endpoint.post('resend', { event_id: first })
        await endpoint.delivered(first, 2)
        await endpoint.post('replay', { after: first })
        await endpoint.delivered(second, 2)
        await endpoint.served()
        assertOnce()
        await endpoint.remove()
        await receiver.kill()
        const written = [...receiver.stdout, ...receiver.stderr].join('\n')
        assert.ok(!written.includes(endpoint.secret.slice(6)))
      })

      test('where its answer is lost after its commit, the event comes again, and changes nothing', async () => {
        const order = newUuid()
        using shop = openShop(folder.path, [order])
        await using between = await loseAnswers(`http://127.0.0.1:${port}/hooks`, 2)
        const endpoint = await makeEndpoint(between.url)
        const receiver = await start(example, { port, shop: shop.path, secrets: endpoint.secret })
        await sell(order)
        const [event = ''] = await eventsOf(order)
        await endpoint.delivered(event, 1)
        assert.deepEqual(between.answers, ['stored', 'stored before', 'stored before'])
        assert.deepEqual([shop.history(), shop.paid()], [[event], [order]])
        await endpoint.remove()
        await receiver.kill()
      })

      test('while the service exchanges a secret, the old one is good, then both, then the new one', async () => {
        const orders = Array.from({ length: 3 }, newUuid)
        using shop = openShop(folder.path, orders)
        const endpoint = await makeEndpoint(`http://127.0.0.1:${port}/hooks`)
        const { secret } = await endpoint.post('rotate-secret')
        const renewed = String(secret)
        const known = [endpoint.secret, `${renewed} ${endpoint.secret}`, renewed]
        for (const [at, secrets] of known.entries()) {
          const receiver = await start(example, { port, shop: shop.path, secrets })
          const order = orders[at] ?? ''
          await sell(order)
          const [event = ''] = await eventsOf(order)
          await endpoint.delivered(event, 1)
          assert.equal((await endpoint.attempts(event)).length, 1)
          await receiver.kill()
        }
        assert.deepEqual(shop.paid(), orders.toSorted())
        // Whoever knows another is told what is wrong, and so is the operator.
        const stranger = await start(example, { port, shop: shop.path, secrets: newSecret() })
        const { result, status, response } = await endpoint.post('test')
        assert.deepEqual([result, status], ['rejected', 401])
        assert.match(String(response), /is it this endpoint's secret\?/)
        await endpoint.remove()
        await stranger.kill()
      })

      test('of a thin event it asks for the payment; where that is refused, the event comes again', async () => {
        const orders = Array.from({ length: 2 }, newUuid)
        using shop = openShop(folder.path, orders)
        const url = `http://127.0.0.1:${port}/hooks`
        const endpoint = await makeEndpoint(url, { payload: 'thin' })
        const known = { port, shop: shop.path, secrets: endpoint.secret }
        const refused = await start(example, { ...known, env: { QUITTANCE_URL: service.url } })
        await sell(orders[0] ?? '', ['failure', 'success'])
        const events = await eventsOf(orders[0] ?? '')
        const [event = ''] = events
        const isRefused = async () => (await endpoint.attempts(event)).length > 0
        await until(isRefused, { what: 'it was refused' })
        await refused.line(/401/)
        await refused.kill()
        const [attempt] = (await endpoint.attempts(event)).slice(-1)
        assert.deepEqual(
          [attempt?.status, attempt?.response?.trim()],
          [500, 'not stored: the log says why'],
        )
        assert.deepEqual(shop.received(), [])
        const env = { QUITTANCE_URL: service.url, BILLING_READ_TOKEN: readToken }
        const receiver = await start(example, { ...known, env })
        await sell(orders[1] ?? '', ['failure'])
        await endpoint.served()
        assert.deepEqual(shop.history(), (await eventsOf(...orders)).toSorted())
        assert.deepEqual(shop.paid(), [orders[0]])
        await endpoint.remove()
        await receiver.kill()
      })
    })
  }
})

/** A third is paid, a third is declined and then paid, a third only declined. */
const outcomes = [['success'], ['failure', 'success'], ['failure']] as const
const declined = 2

/** Stands before a receiver, and lets its first answers, so many, get lost. */
async function loseAnswers(url: string, count: number) {
  const answers: string[] = []
  const pass = async (request: IncomingMessage, response: ServerResponse) => {
    const headers = Object.entries(request.headers).filter(([name]) => name.startsWith('webhook-'))
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const { status, text } = await post({ url }, Object.fromEntries(headers) as Headers, body)
    answers.push(text)
    if (answers.length <= count) request.socket.destroy()
    else response.writeHead(status).end(text)
  }
  const server = createServer((request, response) => void pass(request, response))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    answers,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
