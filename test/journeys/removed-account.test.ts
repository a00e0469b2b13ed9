import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { postgres } from '../support/databases.ts'
import { apiToken, deployOpen, type OpenDeployment } from '../support/deployment.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import { until } from '../support/until.ts'
import { assertFinding, doctor } from '../cli/doctor.ts'

// An account is taken out of the configuration while something of it is left.

interface View {
  readonly id: string
  readonly status: string
  readonly state: string
  readonly gateway: string
  readonly code: string
  readonly subscription: { readonly id: string }
}

const withAccount = { BILLING_GATEWAYS: 'books:fake' }

describe('an account that is taken out of the configuration', () => {
  let deployment: OpenDeployment
  let service: LocalService
  const left = { paid: '', open: '', subscription: '' }
  before(async () => {
    deployment = await deployOpen(postgres)
  })
  after(() => deployment.remove())

  const start = async (
    more: Readonly<Record<string, string>>,
    ...args: readonly '--no-worker'[]
  ) => {
    const { cwd, env } = deployment
    service = await startLocalService({ cwd, env: { ...env, ...more }, args })
  }
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(service.url + path, {
      method,
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      redirect: 'manual',
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, text }
  }
  const api = async (method: string, path: string, body?: object) => {
    const { status, text } = await send(method, `/billing/api${path}`, body)
    return { status, view: JSON.parse(text) as View }
  }
  const create = async (gateway: string) => {
    const money = { amount: 4_999, currency: 'UAH', payable: { type: 'order', id: '1' } }
    const { status, view } = await api('POST', '/payments', { gateway, ...money })
    assert.equal(status, 201)
    return view.id
  }
  const settle = async (gateway: string, id: string) =>
    (await send('POST', `/billing/webhooks/${gateway}`, { payment_id: id, result: 'success' }))
      .status
  const becomes = (id: string, status: string) =>
    until(async () => (await api('GET', `/payments/${id}`)).view.status === status, {
      what: `${id} is ${status}`,
    })
  const callsOfBooks = async () => {
    const { rows } = await sql<{ state: string }>`
      select state from billing.webhook_calls where gateway = 'books'`.execute(
      deployment.database.db,
    )
    return rows.map(({ state }) => state)
  }
  const look = () => doctor({ cwd: deployment.cwd, env: { ...deployment.env, ...addressOf() } })
  const addressOf = () => ({ PORT: new URL(service.url).port })

  test('leaves a payment whose callback is stored, an open one and a subscription', async () => {
    await start(withAccount, '--no-worker')
    left.paid = await create('books')
    left.open = await create('books')
    const every = { every: 'month', amount: 4_999, currency: 'UAH' }
    const payable = { type: 'account', id: '7' }
    const made = await api('POST', '/subscriptions', { gateway: 'books', payable, ...every })
    assert.equal(made.status, 201)
    left.subscription = made.view.subscription.id
    assert.equal(await settle('books', left.paid), 200)
    assert.deepEqual(await callsOfBooks(), ['pending'])
    await service.stop()
  })

  test('is unknown from then on, and what is left of it is kept and shown', async () => {
    await start({})
    assert.equal(await settle('books', left.open), 404)
    for (const id of [left.paid, left.open]) {
      assert.deepEqual((await api('GET', `/payments/${id}`)).view.gateway, 'books')
      for (const page of ['pay', 'return']) {
        const { status } = await send('GET', `/billing/${page}/${id}`)
        assert.ok(status < 500, `${page}: ${status}`)
      }
      assert.equal((await send('GET', `/billing/fake/checkout/${id}`)).status, 404)
    }
    assert.equal((await api('GET', '/payments?limit=100')).status, 200)
    assert.equal((await api('GET', '/webhook-calls?state=pending')).status, 200)
    for (const [path, body] of [
      [`/payments/${left.open}/poll`, undefined],
      [`/payments/${left.open}/cancel`, undefined],
      [
        '/payments',
        { gateway: 'books', amount: 1, currency: 'UAH', payable: { type: 'o', id: '1' } },
      ],
    ] as const) {
      const { status, view } = await api('POST', path, body)
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`)
      assert.equal(view.code, 'gateway_unknown', path)
    }
  })

  test('holds up nobody else, and no process takes its calls', async () => {
    const { db } = deployment.database
    // As if a worker had died of it, which makes workers take it by itself.
    await sql`update billing.webhook_calls set leases_lost = 1,
      next_attempt_at = now() - interval '10 minutes' where gateway = 'books'`.execute(db)
    await sql`update billing.subscriptions set next_action_at = now() - interval '1 minute'
      where id = ${left.subscription}::uuid`.execute(db)
    const ids = await Promise.all(Array.from({ length: 20 }, () => create('fake')))
    await Promise.all(ids.map((id) => settle('fake', id)))
    for (const id of ids) await becomes(id, 'paid')
    await until(
      async () => {
        const { rows } = await sql`select from billing.subscriptions
          where id = ${left.subscription}::uuid and next_action_at > now()`.execute(db)
        return rows.length === 1
      },
      { what: 'the subscription is looked at' },
    )
    assert.deepEqual(await callsOfBooks(), ['pending'])
    assert.equal((await api('GET', `/payments/${left.paid}`)).view.status, 'pending')
    const errors = service.stderr
      .filter((line) => /"level":(?:50|60)/.test(line))
      .map((line) => JSON.parse(line) as { readonly gateway: string; readonly msg: string })
    assert.deepEqual(
      errors.map(({ gateway, msg }) => [gateway, msg]),
      [['books', 'this process charges no saved card of the gateway']],
    )
  })

  test('is named by doctor and /readyz, with what is left of it', async () => {
    const found = await look()
    const leftOver = found.findings.filter(({ check }) => check === 'left_over')
    assert.deepEqual(
      leftOver.map(({ state }) => state),
      ['warning', 'error'],
    )
    const [all, due] = leftOver
    assert.match(all?.found ?? '', /no gateway books is known here, .*: 1 call, 1 subscription$/)
    assert.match(
      due?.found ?? '',
      /^calls of books are waiting: .*, 1 pending, the oldest for 10 min/,
    )
    assertFinding(found.of('queue'), 'ok', /1 pending/)
    const { status, text } = await send('GET', '/readyz')
    assert.equal(status, 503)
    const { problems } = JSON.parse(text) as { problems: readonly string[] }
    assert.deepEqual(problems, [
      'calls of books are waiting: no gateway of this name is known here',
    ])
    await service.stop()
  })

  test('goes on where it was once it is configured again', async () => {
    await start(withAccount)
    await becomes(left.paid, 'paid')
    assert.deepEqual(await callsOfBooks(), ['processed'])
    assert.equal(await settle('books', left.open), 200)
    await becomes(left.open, 'paid')
    const env = { ...deployment.env, ...withAccount, ...addressOf() }
    const again = await doctor({ cwd: deployment.cwd, env })
    assertFinding(again.of('left_over'), 'ok', /no call waits/)
    assert.equal((await send('GET', '/readyz')).status, 200)
    await service.stop()
  })
})
