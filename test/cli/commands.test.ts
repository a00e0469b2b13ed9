import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { createProgram } from '../../src/cli/run.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { createOverHttp, deploy, makeTable, type Deployment } from '../support/deployment.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import type { Ending } from '../support/process.ts'
import { leaves } from './leaves.ts'

const payable = ['--amount', '1999', '--currency', 'UAH', '--payable', 'order:42']
const create = ['payments', 'create', '--gateway', 'fake', ...payable]
const subscribe = ['subscriptions', 'create', '--gateway', 'fake', '--payable', 'account:7']

describe('what is typed wrongly is refused before anything is done:', () => {
  const rows: readonly (readonly [args: readonly string[], pattern: RegExp])[] = [
    [['prune', '--now'], /unknown option '--now'/],
    [['payments', 'create'], /--gateway/],
    [[...create, '--amount', '19.99'], /minor units/],
    [[...create, '--payable', 'order'], /type:id/],
    [[...create, '--expires-at', 'tomorrow'], /a time such as/],
    [[...create, '--initiated-by', 'nobody'], /customer, merchant/],
    [['payments', 'cancel'], /missing required argument 'id'/],
    [['refund'], /missing required argument 'payment'/],
    [['refund', 'x', '--amount', '1.5'], /minor units/],
    [['poll'], /missing required argument 'payment'/],
    [['reconcile', '--since', '1d'], /unknown option '--since'/],
    [['payments', 'list', '--limit', '0'], /1 to 100/],
    [['payments', 'list', '--status', 'done'], /pending, paid, failed, canceled/],
    [['work', '--queue', 'a,,b'], /separated by commas/],
    [['calls', 'show'], /missing required argument 'id'/],
    [[...subscribe, '--amount', '19.99'], /minor units/],
    [[...subscribe, '--every', 'fortnight'], /--every/],
    // A shell's variable that is not set must not charge at once.
    [[...subscribe, '--trial-days', ''], /whole number/],
    [[...subscribe, '--managed-by', 'somebody'], /local, provider/],
  ]
  for (const [args, pattern] of rows) {
    test(`quittance ${args.join(' ')}`, async () => {
      const program = await createProgram(args[0])
      for (const { command } of leaves(program)) command.action(() => assert.fail('it is done'))
      await assert.rejects(program.parseAsync(args, { from: 'user' }), { message: pattern })
    })
  }
})

onPostgres((engine) => {
  let deployment: Deployment
  let service: LocalService

  before(async () => {
    deployment = await deploy(engine)
    service = await startLocalService(deployment)
    const database = await deployment.connect()
    await makeTable(database)
    await database.close()
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  const besideService = () => {
    const { cwd, env } = deployment
    return { cwd, env: { ...env, PORT: new URL(service.url).port } }
  }

  /** Beside the running service, on the same database. */
  function quittance(...args: readonly string[]): Promise<Ending> {
    return runHosted(args, besideService())
  }

  async function json<T>(...args: readonly string[]): Promise<T> {
    return parsed(await quittance(...args, '--json')) as T
  }

  function parsed({ code, stdout, stderr }: Ending): unknown {
    assert.equal(code, 0, stderr.join('\n'))
    assert.deepEqual(stderr, [])
    return JSON.parse(stdout.join('\n'))
  }

  /** By the service, for that costs less than a command. */
  async function createPayment(): Promise<string> {
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id))
    return id
  }

  test('a payment is created, settled by send, shown, and its call is replayed', async () => {
    const { id, status } = await json<{ id: string; status: string }>(...create)
    assert.equal(status, 'pending')
    const sent = await json<{ call_id: string }>('send', 'fake', '--payment', id)
    assert.partialDeepStrictEqual(sent, {
      status: 200,
      scenario: 'success',
      payment_id: id,
      state: 'processed',
      outcome: [{ type: 'payment:paid', result: 'applied' }],
    })
    const { stdout } = await quittance('payments', 'show', id)
    const shown = stdout.join('\n')
    assert.match(shown, /pending -> paid, by call/)
    assert.match(shown, /PaymentSucceeded/)
    const { call_id: call } = sent
    assert.deepEqual(await json('calls', 'replay', call), { queued: call })
    const { dedup_claims: claims } = await json<{ dedup_claims: string[] }>('calls', 'show', call)
    assert.deepEqual(claims, [`payment:paid:${id}`])
  })

  test('a gateway that is switched off is not said to lack a setting', async () => {
    const { stdout } = await runHosted(['gateways'], {
      cwd: deployment.cwd,
      env: { ...deployment.env, BILLING_FAKE: 'off' },
    })
    assert.match(stdout[0] ?? '', /^fake {2}off; BILLING_FAKE turns it on$/)
  })

  test('send says what is wrong when the callback is not accepted', async () => {
    const id = await createPayment()
    const secret = { STRIPE_SIGNING_SECRET: 'whsec_of_nobody_else' }
    const rows = [
      [['stripe', '--payment', id], /403 — Give .* the same secrets/],
      [['fake', '--payment', id, '--url', `${service.url}/nowhere`], /404 — Correct --url/],
      [['fake', '--payment', id, '--url', `${service.url}/healthz`], /405 — Correct --url/],
    ] as const
    for (const [args, pattern] of rows) {
      const { code, stdout, stderr } = await runHosted(['send', ...args], {
        ...besideService(),
        env: { ...besideService().env, ...secret },
      })
      assert.equal(code, 1)
      assert.match(stdout[0] ?? '', /^POST /)
      assert.equal(stderr.length, 1, stderr.join('\n'))
      assert.match(stderr[0] ?? '', pattern)
    }
  })

  test('send finds the callback URL of the origin that it is given', async () => {
    const id = await createPayment()
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
    const { cwd, env } = besideService()
    const secret = { STRIPE_SIGNING_SECRET: 'whsec_of_nobody_else' }
    const send = (...args: readonly string[]) =>
      runHosted(['send', 'stripe', ...args], {
        cwd,
        env: { ...env, ...secret, NODE_ENV: 'production' },
      })
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
      const { cwd, env } = besideService()
      const terminal = { columns: 80 }
      const { stdout } = await runHosted(args, { cwd, env: { ...env, NO_COLOR: '1' }, terminal })
      assert.ok(stdout.length > 1)
      const wide = stdout.filter((line) => line.length > 80)
      assert.deepEqual(wide, [])
    }
  })

  for (const [args, pattern] of [
    [['pay'], /unknown command 'pay'/],
    [['send', 'fake', '--scenario', 'lottery'], /success, failure/],
  ] as const) {
    test(`wrong usage ends with exit code 2 and one line: ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await quittance(...args)
      assert.deepEqual([code, stdout, stderr.length], [2, [], 1], stderr.join('\n'))
      assert.match(stderr[0] ?? '', pattern)
    })
  }

  test('quittance alone shows its help; a noun without a verb does so on stderr: exit code 2', async () => {
    assert.deepEqual(await quittance(), await quittance('--help'))
    const { code, stdout, stderr } = await quittance('payments')
    const help = await quittance('payments', '--help')
    assert.deepEqual([code, stdout, stderr], [2, [], help.stdout])
  })

  describe('what is not there ends with exit code 1 and one line:', () => {
    const unknown = '01890000-0000-7000-8000-000000000000'
    const rows: readonly (readonly [args: readonly string[], pattern: RegExp])[] = [
      [['payments', 'show', 'x'], /no payment "x"/],
      [['payments', 'cancel', unknown], /no payment/],
      [['refund', 'x'], /no payment "x"/],
      [['poll', unknown], /no payment/],
      [['calls', 'show', unknown], /no .*call/],
      [['calls', 'replay', unknown], /call/],
      [['listeners', 'forget', 'nobody'], /nobody/],
      [['payments', 'list', '--gateway', 'nowhere'], /nowhere/],
      [[...create, '--currency', 'hryvnia'], /currency/],
      [['send', 'stripe'], /stripe.*credentials/],
      [['send', 'fake', '--payment', unknown], /no payment/],
      [
        ['send', 'fake', '--url', 'http://127.0.0.1@evil.example/'],
        /http:\/\/evil\.example is neither this machine nor .* — Send to 127\.0\.0\.1/,
      ],
      [
        ['send', 'fake', '--url', 'http://127.0.0.1:1/'],
        /no answer from http:\/\/127\.0\.0\.1:1\/.* — Start it: npm start, .* set APP_URL, /,
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
      const { code, stdout } = await quittance('payments', '--json')
      assert.equal(code, 2)
      assert.partialDeepStrictEqual(JSON.parse(stdout.join('\n')), { error: { code: 'usage' } })
    })
  })

  test('--verbose adds the stack', async () => {
    const { stderr } = await quittance('payments', 'show', 'x', '--verbose')
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
      const { code, stdout, stderr } = await quittance(...args)
      assert.deepEqual([code, stderr], [0, []])
      assert.ok(stdout.length > 0)
    }
  })
})
