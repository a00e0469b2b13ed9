import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { embedded } from '../support/databases.ts'
import { apiToken, deploy, makeTable, postFake, type Deployment } from '../support/deployment.ts'
import {
  startProcess,
  startService,
  type RunningProcess,
  type RunningService,
} from '../support/process.ts'
import { until } from '../support/until.ts'
import { read } from '../tidy/source-files.ts'
import { codeBlocks } from './markdown.ts'

const path = 'docs/17-feed.md'
const page = read(path)
const blocks = codeBlocks({ path, text: page })
const commands = blocks.filter(({ language }) => language === 'console').map(({ code }) => code)
const readToken = 'token-that-only-reads'

let deployment: Deployment
let service: RunningService
before(async () => {
  deployment = await deploy(embedded)
  const { cwd, env } = deployment
  service = await startService({ cwd, env: { ...env, BILLING_READ_TOKEN: readToken } })
  const database = await deployment.connect()
  await makeTable(database)
  await database.close()
  const id = newUuid()
  const answer = await fetch(`${service.url}/billing/api/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      id,
      gateway: 'fake',
      amount: 1999,
      currency: 'USD',
      payable: { type: 'order', id: '42' },
    }),
  })
  assert.equal(answer.status, 201)
  assert.equal(await postFake(service.url, id, 'success'), 200)
  const feed = `${service.url}/billing/api/events?order=asc&wait=50`
  const first = await fetch(feed, { headers: { authorization: `Bearer ${readToken}` } })
  assert.equal(((await first.json()) as { data: unknown[] }).data.length, 1)
})
after(async () => {
  await service.stop()
  await deployment.remove()
})

/** A command of the page, typed in a shell that has the token. */
function typed(line: string): RunningProcess {
  const own = line
    .replace('http://localhost:3000', service.url)
    .replace('curl ', 'exec curl --silent --no-buffer ')
  const env = { BILLING_READ_TOKEN: readToken }
  return startProcess(['-c', own], { runtime: 'sh', env })
}

const uuid = /[0-9a-f]{8}-[0-9a-f-]{27}/g
const time = /20\d\d-\d\d-\d\dT[\d:.]+Z/g

/** Without what differs from run to run. */
function steady(text: string): string {
  return text.replaceAll(uuid, 'ID').replaceAll(time, 'TIME')
}

/** What the page shows of an answer is there; a payment may have more. */
function assertShows(shown: unknown, actual: unknown, at = ''): void {
  if (typeof shown !== 'object' || shown === null) {
    assert.deepEqual(shown, actual, at)
    return
  }
  assert.ok(typeof actual === 'object' && actual !== null, at)
  if (!at.endsWith('.payment')) assert.deepEqual(Object.keys(shown), Object.keys(actual), at)
  for (const [name, value] of Object.entries(shown)) {
    assertShows(value, (actual as Record<string, unknown>)[name], `${at}.${name}`)
  }
}

test('the first request of the page is answered as it shows', async () => {
  const [line = ''] = commands
  const shown = blocks.find(({ language }) => language === 'json')?.code ?? ''
  const { stdout } = await typed(line.replace(/^\$ /, '')).ended
  assertShows(JSON.parse(steady(shown)), JSON.parse(steady(stdout.join('\n'))))
})

test('the stream of the page begins as it shows', async () => {
  const [, session = ''] = commands
  const [line = '', ...shown] = session.trimEnd().split('\n')
  const stream = typed(line.replace(/^\$ /, ''))
  await until(() => stream.stdout.length >= shown.length, { what: 'it is printed' })
  // It would go on.
  await stream.stop()
  const printed = stream.stdout.slice(0, shown.length)
  assert.equal(printed.length, 4)
  for (const [at, text] of shown.entries()) {
    const parts = text.split('...').map((part) => part.replaceAll(/[{}[\]().]/g, String.raw`\$&`))
    assert.match(printed[at] ?? '', new RegExp(`^${parts.join('.+')}$`))
  }
})
