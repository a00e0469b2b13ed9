import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { until as eventually } from '../support/billing.ts'
import { runHosted } from '../support/command-host.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { runCommand, startService, type Ending, type RunningService } from '../support/process.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { onTerminal } from './on-terminal.ts'

interface ShownPayment {
  readonly id: string
  readonly status: string
}

let folder: TemporaryFolder
let service: RunningService
let database: pg.Client

before(async () => {
  folder = temporaryFolder()
  const data = join(folder.path, '.quittance')
  fillDataFolder(data)
  service = await startService({ cwd: folder.path })
  const socket = await findEmbedded(data)
  database = new pg.Client({ ...socket, user: 'quittance', database: 'quittance' })
  await database.connect()
})
after(async () => {
  await database.end()
  await service.stop()
  folder.remove()
})

const besideService = () => ({ cwd: folder.path, env: { PORT: new URL(service.url).port } })

/** Beside the running service, on the same embedded database. */
function quittance(...args: readonly string[]): Promise<Ending> {
  return runHosted(args, besideService())
}

/** The same as a process of its own. */
function alone(...args: readonly string[]): Promise<Ending> {
  return runCommand(args, besideService())
}

async function json<T>(...args: readonly string[]): Promise<T> {
  return parsed(await quittance(...args, '--json')) as T
}

function parsed({ code, stdout, stderr }: Ending): unknown {
  assert.equal(code, 0, stderr.join('\n'))
  assert.deepEqual(stderr, [])
  return JSON.parse(stdout.join('\n'))
}

const payable = ['--amount', '1999', '--currency', 'UAH', '--payable', 'order:42']

function createPayment(): Promise<ShownPayment> {
  return json('payments', 'create', '--gateway', 'fake', ...payable)
}

/** Looks into the database, for a command is a whole process. */
async function until(id: string, status: string): Promise<void> {
  const isSo = async () => {
    const { rows } = await database.query('select status from billing.payments where id = $1', [id])
    return rows[0]?.status === status
  }
  await eventually(isSo, { what: `payment ${id} is ${status}` })
}

test('a payment is created, settled by send, and shown with what happened', async () => {
  const payment = await createPayment()
  assert.equal(payment.status, 'pending')
  const sent = await json('send', 'fake', '--payment', payment.id)
  assert.partialDeepStrictEqual(sent, {
    status: 200,
    scenario: 'success',
    payment_id: payment.id,
    state: 'processed',
    outcome: [{ type: 'payment:paid', result: 'applied' }],
  })
  const listed = (await quittance('calls', 'list')).stdout
  assert.match(listed[0] ?? '', /^id +gateway +state +received \(UTC\) +payment +outcome$/)
  assert.match(listed[1] ?? '', new RegExp(`processed .* ${payment.id} +payment:paid$`))
  const { stdout } = await alone('payments', 'show', payment.id)
  const shown = stdout.join('\n')
  assert.match(shown, /pending -> paid, by call/)
  assert.match(shown, /PaymentSucceeded/)
})

test('a decline and then a payment are both seen', async () => {
  const { id } = await createPayment()
  await quittance('send', 'fake', '--payment', id, '--scenario', 'failure')
  await until(id, 'failed')
  await quittance('send', 'fake', '--payment', id, '--scenario', 'success')
  await until(id, 'paid')
})

test('calls are listed, shown and replayed; a replay fires nothing again', async () => {
  const { id } = await createPayment()
  await quittance('send', 'fake', '--payment', id)
  await until(id, 'paid')
  const list = await json<{ data: { id: string; state: string }[] }>(
    'calls',
    'list',
    '--payment',
    id,
  )
  const [call] = list.data
  assert.ok(call !== undefined)
  assert.equal(call.state, 'processed')
  const replayed = parsed(await alone('calls', 'replay', call.id, '--json'))
  assert.deepEqual(replayed, { queued: call.id })
  const shown = parsed(await alone('calls', 'show', call.id, '--json')) as {
    dedup_claims: string[]
  }
  assert.deepEqual(shown.dedup_claims, [`payment:paid:${id}`])
  const payment = await json<{ events: unknown[] }>('payments', 'show', id)
  assert.equal(payment.events.length, 1)
})

describe('every command with --json prints JSON and nothing else:', () => {
  const rows: readonly (readonly string[])[] = [
    ['payments', 'list'],
    ['calls', 'list'],
    ['listeners', 'list'],
    ['gateways'],
    ['migrate'],
    ['prune'],
    ['reconcile'],
    ['send', 'fake', '--list'],
  ]
  for (const row of rows) test(row.join(' '), () => json(...row))
})

test('every command answers to the prefix billing:', async () => {
  assert.deepEqual(await json('billing:prune'), await json('prune'))
  assert.deepEqual(await json('billing:payments', 'list'), await json('payments', 'list'))
})

test('a gateway that is switched off is not said to lack a setting', async () => {
  const { stdout } = await runHosted(['gateways'], {
    cwd: folder.path,
    env: { BILLING_FAKE: 'off' },
  })
  assert.match(stdout[0] ?? '', /^fake {2}off; BILLING_FAKE turns it on$/)
})

test('send says what is wrong when the callback is not accepted', async () => {
  const { id } = await createPayment()
  const secret = { STRIPE_SIGNING_SECRET: 'whsec_of_nobody_else' }
  const rows = [
    [['stripe', '--payment', id], /403 — Give .* the same secrets/],
    [['fake', '--payment', id, '--url', `${service.url}/nowhere`], /404 — Correct --url/],
    [['fake', '--payment', id, '--url', `${service.url}/healthz`], /405 — Correct --url/],
  ] as const
  for (const [args, pattern] of rows) {
    const { code, stdout, stderr } = await runHosted(['send', ...args], {
      cwd: folder.path,
      env: { PORT: new URL(service.url).port, ...secret },
    })
    assert.equal(code, 1)
    assert.match(stdout[0] ?? '', /^POST /)
    assert.equal(stderr.length, 1, stderr.join('\n'))
    assert.match(stderr[0] ?? '', pattern)
  }
})

test('send finds the callback URL of the origin that it is given', async () => {
  const { id } = await createPayment()
  const sent = await quittance('send', 'fake', '--payment', id, '--url', service.url)
  assert.equal(sent.code, 0, sent.stderr.join('\n'))
  assert.equal(sent.stdout[0], `POST ${service.url}/billing/webhooks/fake`)
})

test('send follows no redirect: it could lead the signature anywhere', async () => {
  await createPayment()
  let asked = 0
  const elsewhere = createServer((_, response) => {
    asked += 1
    response.end()
  }).listen(0, '127.0.0.1')
  await once(elsewhere, 'listening')
  const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`
  const redirecting = createServer((_, response) => {
    response.writeHead(307, { location }).end()
  }).listen(0, '127.0.0.1')
  await once(redirecting, 'listening')
  const url = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/`
  const { code, stderr } = await quittance('send', 'fake', '--url', url)
  redirecting.close()
  elsewhere.close()
  assert.equal(code, 1)
  assert.match(stderr[0] ?? '', /not accepted: 307/)
  assert.equal(asked, 0)
})

test('under NODE_ENV=production send settles nothing without --yes', async () => {
  using production = temporaryFolder()
  fillDataFolder(join(production.path, '.quittance'))
  const config = 'export default { database: { allowEmbeddedInProduction: true } }'
  writeFileSync(join(production.path, 'quittance.config.js'), config)
  const env = { NODE_ENV: 'production', BILLING_FAKE: 'on' }
  const send = (...args: readonly string[]) =>
    runHosted(['send', 'fake', ...args], { cwd: production.path, env })
  const refused = await send()
  assert.equal(refused.code, 1)
  assert.match(refused.stderr.join('\n'), /settles a real payment.* — .* give --yes/)
  assert.match((await send('--yes')).stderr.join('\n'), /no payment that can still be paid/)
  assert.equal((await send('--list')).code, 0)
})

test('on a terminal, no table is wider than its 80 columns', async () => {
  await createPayment()
  const tables = [
    ['payments', 'list'],
    ['calls', 'list'],
    ...builtin.map(({ name }) => ['send', name, '--list']),
  ]
  for (const args of tables) {
    const options = { ...besideService(), nodeFlags: onTerminal(80) }
    const { stdout } = await runCommand(args, {
      ...options,
      env: { ...options.env, NO_COLOR: '1' },
    })
    assert.ok(stdout.length > 1)
    const wide = stdout.filter((line) => line.length > 80)
    assert.deepEqual(wide, [])
  }
})

describe('wrong usage ends with exit code 2 and one line:', () => {
  const rows: readonly (readonly [args: readonly string[], pattern: RegExp])[] = [
    [['pay'], /unknown command 'pay'/],
    [['prune', '--now'], /unknown option '--now'/],
    [['payments', 'create'], /--gateway/],
    [['payments', 'create', '--gateway', 'fake', ...payable, '--amount', '19.99'], /minor units/],
    [['payments', 'create', '--gateway', 'fake', ...payable, '--payable', 'order'], /type:id/],
    [
      ['payments', 'create', '--gateway', 'fake', ...payable, '--expires-at', 'tomorrow'],
      /a time such as/,
    ],
    [
      ['payments', 'create', '--gateway', 'fake', ...payable, '--initiated-by', 'nobody'],
      /customer, merchant/,
    ],
    [['payments', 'cancel'], /missing required argument 'id'/],
    [['refund'], /missing required argument 'payment'/],
    [['refund', 'x', '--amount', '1.5'], /minor units/],
    [['poll'], /missing required argument 'payment'/],
    [['reconcile', '--since', '1d'], /unknown option '--since'/],
    [['payments', 'list', '--limit', '0'], /1 to 100/],
    [['payments', 'list', '--status', 'done'], /pending, paid, failed, canceled/],
    [['work', '--queue', 'a,,b'], /separated by commas/],
    [['calls', 'show'], /missing required argument 'id'/],
    [['send', 'fake', '--scenario', 'lottery'], /success, failure/],
  ]
  for (const [args, pattern] of rows) {
    test(`quittance ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await quittance(...args)
      assert.equal(code, 2)
      assert.deepEqual(stdout, [])
      assert.equal(stderr.length, 1, stderr.join('\n'))
      assert.match(stderr[0] ?? '', pattern)
    })
  }
})

for (const args of [[], ['payments']]) {
  test(`without a command, quittance ${args.join(' ')} shows its help on stderr: exit code 2`, async () => {
    const { code, stdout, stderr } = await alone(...args)
    const help = await quittance(...args, '--help')
    assert.deepEqual([code, stdout, stderr], [2, [], help.stdout])
  })
}

describe('what is not there ends with exit code 1 and one line:', () => {
  const unknown = '01890000-0000-7000-8000-000000000000'
  const rows: readonly (readonly [args: readonly string[], pattern: RegExp])[] = [
    [['payments', 'show', unknown], /no payment/],
    [['payments', 'show', 'x'], /no payment "x"/],
    [['payments', 'cancel', unknown], /no payment/],
    [['refund', unknown], /no payment/],
    [['refund', 'x'], /no payment "x"/],
    [['poll', unknown], /no payment/],
    [['calls', 'show', unknown], /no .*call/],
    [['calls', 'replay', unknown], /call/],
    [['listeners', 'forget', 'nobody'], /nobody/],
    [['payments', 'list', '--gateway', 'nowhere'], /nowhere/],
    [['payments', 'list', '--cursor', 'rubbish'], /cursor/],
    [['payments', 'create', '--gateway', 'fake', ...payable, '--currency', 'hryvnia'], /currency/],
    [['send', 'nowhere'], /nowhere/],
    [['send', 'stripe'], /stripe.*credentials/],
    [['send', 'fake', '--payment', unknown], /no payment/],
    [
      ['send', 'fake', '--url', 'http://127.0.0.1@evil.example/'],
      /http:\/\/evil\.example is neither this machine nor .* — Send to 127\.0\.0\.1/,
    ],
    [
      ['send', 'fake', '--url', 'http://127.0.0.1:1/'],
      /no answer from http:\/\/127\.0\.0\.1:1\/.* — Start it: npm start/,
    ],
  ]
  for (const [args, pattern] of rows) {
    test(`quittance ${args.join(' ')}`, async () => {
      const { code, stderr } = await quittance(...args)
      assert.equal(code, 1)
      assert.equal(stderr.length, 1, stderr.join('\n'))
      assert.match(stderr[0] ?? '', / — /)
      assert.match(stderr[0] ?? '', pattern)
    })
  }
})

describe('with --json, an error is JSON on standard output, and nothing else is said:', () => {
  const rows: readonly (readonly [args: string, code: number, error: object])[] = [
    [
      'payments show x',
      1,
      {
        code: 'payment_not_found',
        message: 'there is no payment "x"',
        fix: 'Check the id: quittance payments list',
      },
    ],
    ['payments list --limit 0', 2, { code: 'usage', fix: 'Run the command with --help.' }],
    ['payments list --cursor rubbish', 1, { code: 'cursor_invalid' }],
    ['send nowhere', 1, { code: 'gateway_unknown' }],
  ]
  for (const [args, code, error] of rows) {
    test(args, async () => {
      const ending = await quittance(...args.split(' '), '--json')
      assert.deepEqual([ending.code, ending.stderr, ending.stdout.length], [code, [], 1])
      assert.partialDeepStrictEqual(JSON.parse(ending.stdout[0] ?? ''), { error })
    })
  }

  test('a missing command', async () => {
    const { code, stdout } = await alone('payments', '--json')
    assert.equal(code, 2)
    assert.partialDeepStrictEqual(JSON.parse(stdout.join('\n')), { error: { code: 'usage' } })
  })
})

test('--verbose adds the stack', async () => {
  const { stderr } = await alone('payments', 'show', 'x', '--verbose')
  assert.ok(stderr.some((line) => /^\s+at /.test(line)))
})

test('--help before a command shows all commands', async () => {
  const all = await quittance('--help')
  for (const command of ['serve', 'billing:prune']) {
    assert.deepEqual((await quittance('--help', command)).stdout, all.stdout)
  }
})

test('--help and --version end with exit code 0', async () => {
  for (const args of [['--help'], ['payments', 'create', '--help'], ['--version']]) {
    const { code, stdout, stderr } = await alone(...args)
    assert.deepEqual([code, stderr], [0, []])
    assert.ok(stdout.length > 0)
  }
})

test('an older Node is told so in one line', async () => {
  // The check runs before anything else is loaded; this Node only claims to be older.
  const preload = join(folder.path, 'claim-node-20.mjs')
  writeFileSync(
    preload,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.0' } })",
  )
  const { code, stdout, stderr } = await runCommand(['serve'], {
    cwd: folder.path,
    nodeFlags: ['--import', preload],
  })
  assert.equal(code, 1)
  assert.deepEqual(stdout, [])
  assert.equal(stderr.length, 1)
  assert.match(stderr[0] ?? '', /Node 20\.20\.0 is too old — .*22\.18/)
})
