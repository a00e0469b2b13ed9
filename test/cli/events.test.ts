import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OutgoingEventJson } from '../../src/wire/outgoing-event.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { runHosted } from '../support/command-host.ts'
import { embedded, forEachDatabase, onPostgres } from '../support/databases.ts'
import {
  apiToken,
  createOverHttp,
  deploy,
  makeTable,
  postFake,
  type Deployment,
} from '../support/deployment.ts'
import {
  startProcess,
  startService,
  type Ending,
  type RunningProcess,
  type RunningService,
} from '../support/process.ts'
import { until } from '../support/until.ts'

interface Feed {
  readonly data: readonly OutgoingEventJson[]
  readonly next_cursor: string
}

function printed({ code, stdout, stderr }: Ending): readonly string[] {
  assert.equal(code, 0, stderr.join('\n'))
  return stdout
}

forEachDatabase((engine) => {
  let deployment: Deployment
  let service: RunningService
  before(async () => {
    deployment = await deploy(engine)
    const { cwd, env } = deployment
    service = await startService({ cwd, env })
    const database = await deployment.connect()
    await makeTable(database)
    await database.close()
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  const events = (...args: readonly string[]) => runHosted(['events', ...args], deployment)
  const tail = (...args: readonly string[]) => startProcess(['events', 'tail', ...args], deployment)

  async function api<T>(path: string): Promise<T> {
    const headers = { authorization: `Bearer ${apiToken}` }
    const answer = await fetch(`${service.url}/billing/api${path}`, { headers })
    assert.equal(answer.status, 200)
    return (await answer.json()) as T
  }
  const feed = (query: string) => api<Feed>(`/events?order=asc&${query}`)
  const end = async () => (await feed('after=end')).next_cursor

  /** Its event is in the feed. */
  async function pay(results: readonly ('success' | 'failure')[] = ['success']): Promise<string> {
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id))
    for (const result of results) {
      const cursor = await end()
      assert.equal(await postFake(service.url, id, result), 200)
      const { data } = await feed(`after=${cursor}&wait=50`)
      assert.equal(data.length, 1)
    }
    return id
  }

  test('events list shows what happened, newest first, by type and payment', async () => {
    const id = await pay()
    const [heads, line = '', ...rest] = printed(await events('list', '--payment', id))
    assert.match(heads ?? '', /^id +type +time \(UTC\) +about$/)
    const about = `payment  ${id}  order:${id}  1.00 UAH  paid`
    assert.match(line, /^\S{36} {2}PaymentSucceeded {2}\d\d-\d\d \d\d:\d\d {2}/)
    assert.ok(line.endsWith(`  ${about}`), line)
    assert.deepEqual(rest, [])
    assert.deepEqual(printed(await events('list', '--payment', id, '--type', 'PaymentFailed')), [
      'No events.',
    ])
    const json = JSON.parse(printed(await events('list', '--limit', '1', '--json')).join('')) as {
      next_cursor: string | null
    }
    assert.deepEqual(json, await api('/events?limit=1'))
    await pay()
    const more = printed(await events('list', '--limit', '1')).at(-1) ?? ''
    assert.match(more, /^more: --cursor \S+$/)
  })

  test('events show says what one is about, and who got it', async () => {
    const id = await pay()
    const [event] = (await api<Feed>(`/events?payment_id=${id}`)).data
    assert.ok(event !== undefined)
    const shown = printed(await events('show', event.id))
    for (const line of [
      `event       ${event.id}`,
      'type        PaymentSucceeded',
      `time        ${event.timestamp}`,
      `position    ${event.position}`,
      `key         payment:paid:${id}`,
      'source      call',
      `about       payment  ${id}  order:${id}  1.00 UAH  paid`,
    ]) {
      assert.ok(shown.includes(line), `${line} in\n${shown.join('\n')}`)
    }
    const json: unknown = JSON.parse(printed(await events('show', event.id, '--json')).join(''))
    assert.deepEqual(json, await api(`/events/${event.id}`))
    const none = await events('show', newUuid())
    assert.equal(none.code, 1)
    assert.match(none.stderr.join(), /there is no event .* — .*events list/)
  })

  test('events tail follows the feed from where it is told, each event once', async () => {
    const cursor = await end()
    const ids = [await pay(), await pay(['failure', 'success'])]
    const following = tail('--after', cursor)
    ids.push(await pay())
    await following.line(new RegExp(`${ids.at(-1)}`))
    const { code, stdout, stderr } = await following.stop()
    assert.deepEqual([code, stderr], [0, []])
    const line = (type: string, id = '') =>
      `${type.padEnd(16)}  payment  ${id}  order:${id}  1.00 UAH  paid`
    assert.deepEqual(
      stdout.map((text) => text.replace(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}/, '')),
      [
        line('PaymentSucceeded', ids[0]),
        // It says how the payment stands now.
        `${line('PaymentFailed', ids[1])}  superseded`,
        line('PaymentSucceeded', ids[1]),
        line('PaymentSucceeded', ids[2]),
      ],
    )
  })

  test('events tail --json prints what the feed has, one object a line', async () => {
    const cursor = await end()
    await pay(['failure', 'success'])
    const last = await pay()
    const following = tail('--json', '--after', cursor)
    await following.line(new RegExp(last))
    // Interrupted, as from a terminal.
    following.child.kill('SIGINT')
    const { code, stdout, stderr } = await following.ended
    assert.deepEqual([code, stderr], [0, []])
    const { data } = await feed(`after=${cursor}`)
    assert.equal(data.length, 3)
    assert.deepEqual(
      stdout.map((line) => JSON.parse(line) as unknown),
      data,
    )
  })

  test('events tail begins at the end, and wants what it is asked for', async () => {
    const before = await pay()
    const following = tail('--type', 'PaymentFailed,PaymentSucceeded', '--gateway', 'fake')
    const others = tail('--type', 'PaymentFailed')
    const seen: string[] = []
    await until(
      async () => {
        seen.push(await pay(), await pay(['failure']))
        return following.stdout.length > 0 && others.stdout.length > 0
      },
      { what: 'both follow the feed', limitMs: 60_000 },
    )
    const endings = [await following.stop(), await others.stop()]
    for (const { code, stdout } of endings) {
      assert.equal(code, 0)
      assert.ok(!stdout.join('\n').includes(before))
      assert.ok(stdout.every((line) => seen.some((id) => line.includes(id))))
    }
    assert.ok(endings[1]?.stdout.every((line) => line.includes('  PaymentFailed')))
  })

  test('events tail goes on when the service starts again', async () => {
    const cursor = await end()
    const first = await pay()
    const following = tail('--after', cursor)
    await following.line(new RegExp(first))
    await service.stop()
    const { cwd, env } = deployment
    service = await startService({ cwd, env })
    const second = await pay()
    await following.line(new RegExp(second))
    const { code, stdout } = await following.stop()
    assert.deepEqual([code, stdout.length], [0, 2])
  })

  test('events tail refuses what it cannot follow', async () => {
    const refused = async (...args: readonly string[]) => {
      const { code, stderr } = await events('tail', ...args)
      return [code, stderr.join('\n')] as const
    }
    const [unknown, why] = await refused('--after', newUuid())
    assert.equal(unknown, 1)
    assert.match(why, /there is no event .* — Was the database restored\? .*since/)
    const [both, clash] = await refused('--after', 'start', '--since', '1h')
    assert.equal(both, 1)
    assert.match(clash, /--since cannot be given together with after/)
    const [type, choice] = await refused('--type', 'PaymentSuceeded')
    assert.equal(type, 2)
    assert.match(choice, /no event "PaymentSuceeded"; did you mean PaymentSucceeded\?/)
    const [gateway] = await refused('--gateway', 'nobody')
    assert.equal(gateway, 1)
  })
})

test('events tail does not open an embedded database that nobody serves', async () => {
  const deployment = await deploy(embedded)
  try {
    const running: RunningProcess = startProcess(['events', 'tail'], {
      cwd: deployment.cwd,
      env: deployment.env,
    })
    const { code, stderr } = await running.ended
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /no process runs the embedded database.* — Start it/)
  } finally {
    await deployment.remove()
  }
})

onPostgres((engine) => {
  test('a service in production with the token for readers alone says so, and is read', async () => {
    const deployment = await deploy(engine)
    const { BILLING_API_TOKEN: _none, ...env } = deployment.env
    const token = 'token-that-only-reads'
    const service = await startService({
      cwd: deployment.cwd,
      env: { ...env, NODE_ENV: 'production', BILLING_READ_TOKEN: token },
    })
    try {
      const said = service.stdout.find((line) => line.startsWith('  API '))
      const path = `${service.url}/billing/api`
      assert.equal(
        said,
        `  API         ${path}, for reading alone: the token in BILLING_READ_TOKEN`,
      )
      const ask = async (method: string) => {
        const headers = { authorization: `Bearer ${token}` }
        return (await fetch(`${path}/payments`, { method, headers })).status
      }
      assert.deepEqual([await ask('GET'), await ask('POST')], [200, 403])
    } finally {
      await service.stop()
      await deployment.remove()
    }
  })
})
