import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { deploy, type Deployment } from '../support/deployment.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import type { Ending } from '../support/process.ts'
import { tableTexts } from '../support/table-texts.ts'
import { until } from '../support/until.ts'

function printed({ code, stdout, stderr }: Ending): readonly string[] {
  assert.equal(code, 0, stderr.join('\n'))
  return stdout
}

function refused({ code, stdout, stderr }: Ending, pattern: RegExp): void {
  assert.deepEqual([code === 0, stdout], [false, []])
  assert.match(stderr.join('\n'), pattern)
}

const tokenOf = (lines: readonly string[]) => /qop_[\w-]{43}/.exec(lines.join('\n'))?.[0] ?? ''

onPostgres((engine) => {
  let deployment: Deployment
  let service: LocalService
  before(async () => {
    deployment = await deploy(engine)
    service = await startLocalService(deployment)
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  const operators = (...args: readonly string[]) => runHosted(['operators', ...args], deployment)
  const json = async (...args: readonly string[]) =>
    JSON.parse(printed(await operators(...args, '--json')).join('')) as Record<string, unknown>
  const status = async (token: string, method = 'GET') => {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await fetch(`${service.url}/billing/api/subscriptions/release`, {
      method,
      headers,
    })
    await answer.arrayBuffer()
    return answer.status
  }

  test('operators: added, seen, asking the running service, and removed', async () => {
    assert.deepEqual(printed(await operators('list')), ['No operators.'])
    const added = printed(await operators('add', 'olena', '--role', 'operator'))
    const token = tokenOf(added)
    assert.ok(added.includes('name        olena') && added.includes('role        operator'))
    assert.equal(added.at(-2), `token       ${token}`)
    assert.match(added.at(-1) ?? '', /shown this once/)
    refused(await operators('add', 'olena', '--role', 'viewer'), /called olena/)
    const guest = await json('add', 'guest', '--role', 'viewer', '--expires', '90d')
    const lasts = Date.parse(String(guest['expires_at'])) - Date.now()
    assert.ok(Math.abs(lasts - 90 * 86_400_000) < 600_000)
    assert.equal(guest['expired'], false)

    assert.equal(await status(token, 'POST'), 200)
    assert.equal(await status(String(guest['token']), 'POST'), 403)
    const [heads, ...rows] = printed(await operators('list'))
    assert.match(heads ?? '', /^name +role +created \(UTC\) +expires \(UTC\) +token$/)
    assert.match(rows[0] ?? '', /^guest +viewer +.* works$/)
    assert.match(rows[1] ?? '', /^olena +operator +.* never +works$/)
    const listed = await json('list')
    assert.doesNotMatch(JSON.stringify(listed) + rows.join(), /qop_|hash/)

    assert.match(printed(await operators('sign-out', 'olena')).join(), /0 sessions ended/)
    assert.deepEqual(await json('sign-out', 'api'), { operator: 'api', ended_sessions: 0 })
    assert.match(printed(await operators('remove', 'olena')).join(), /^Removed olena/)
    await until(async () => (await status(token, 'POST')) !== 200, {
      what: 'the service, a process other than the command, forgets it',
    })
    refused(await operators('remove', 'olena'), /no operator "olena"/)
    refused(await operators('sign-out', 'olena'), /no operator "olena"/)
    assert.equal((await json('remove', 'guest'))['name'], 'guest')
  })

  test('operators: what is wrong with a command is said, and nothing is made', async () => {
    for (const [args, pattern] of [
      [['add', 'api', '--role', 'operator'], /name is reserved/],
      [['add', 'Olena', '--role', 'operator'], /name must be/],
      [['add', 'olena', '--role', 'admin'], /viewer, operator/],
      [['add', 'olena'], /--role/],
      [['add', 'olena', '--role', 'viewer', '--expires', 'soon'], /90m, 24h or 7d/],
      [['add', 'olena', '--role', 'viewer', '--expires', '0d'], /must be in the future/],
    ] as const) {
      refused(await operators(...args), pattern)
    }
    assert.deepEqual(await json('list'), { data: [] })
  })

  test('operators actions: commands and requests, newest first; never a token', async () => {
    const token = tokenOf(printed(await operators('add', 'taras', '--role', 'operator')))
    await status(token, 'POST')
    refused(await operators('remove', token), /no operator/)
    const page = await json('actions', '--limit', '3')
    const data = page['data'] as Record<string, unknown>[]
    assert.deepEqual(
      data.map((one) => [one['operator'], one['via'], one['action'], one['outcome']]),
      [
        ['cli', 'cli', 'removeOperator', 'failed'],
        ['taras', 'api', 'releaseSubscriptions', '200'],
        ['cli', 'cli', 'addOperator', 'done'],
      ],
    )
    assert.deepEqual([data[0]?.['subject'], data[2]?.['subject']], [null, 'taras'])
    const lines = printed(await operators('actions', '--subject', 'taras'))
    assert.match(lines[0] ?? '', /^operator +via +action +outcome +time \(UTC\) +subject$/)
    assert.match(lines[1] ?? '', /^cli +cli +addOperator +done .* taras$/)
    assert.equal(lines.length, 2)
    const more = printed(await operators('actions', '--operator', 'cli', '--limit', '1'))
    assert.match(more.at(-1) ?? '', /^more: --cursor \S+$/)
    assert.deepEqual(printed(await operators('actions', '--operator', 'nobody')), ['No actions.'])

    const database = await deployment.connect()
    try {
      for (const [name, text] of await tableTexts(database)) {
        assert.ok(!text.includes(token.slice(4)), name)
      }
    } finally {
      await database.close()
    }
    assert.ok(!service.stderr.join('\n').includes(token))
  })
})

onPostgres((engine) => {
  test('in production without a token in the settings the API is there for operators', async () => {
    const deployment = await deploy(engine)
    try {
      const { BILLING_API_TOKEN: _, ...rest } = deployment.env
      const env = { ...rest, NODE_ENV: 'production', APP_URL: 'https://pay.example.test' }
      const options = { cwd: deployment.cwd, env: { ...env, HOST: '127.0.0.1' } }
      const added = await runHosted(['operators', 'add', 'olena', '--role', 'viewer'], options)
      const token = tokenOf(printed(added))
      const service = await startLocalService(options)
      const ask = (authorization: string) =>
        fetch(`${service.url}/billing/api/payments`, { headers: { authorization } })
      assert.equal((await ask(`Bearer ${token}`)).status, 200)
      assert.equal((await ask('Bearer guess')).status, 401)
      assert.match((await service.announced()).join('\n'), /billing\/api, tokens of operators/)
      await service.stop()
    } finally {
      await deployment.remove()
    }
  })
})
