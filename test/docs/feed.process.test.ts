import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { newUuid } from '../../src/kernel/ids.ts'
import { embedded } from '../support/databases.ts'
import { apiToken, deploy, makeTable, postFake, type Deployment } from '../support/deployment.ts'
import { startService, type RunningService } from '../support/process.ts'
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

const run = promisify(execFile)

/** What a command of the page prints, typed in a shell that has the token; a stream is cut. */
async function typed(line: string): Promise<string> {
  const own = line
    .replace('http://localhost:3000', service.url)
    .replace('curl ', 'curl --silent --max-time 3 ')
  const env = { ...process.env, BILLING_READ_TOKEN: readToken }
  const ran = run('sh', ['-c', own], { env })
  return ran.then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  )
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
  const answer = await typed(line.replace(/^\$ /, ''))
  assertShows(JSON.parse(steady(shown)), JSON.parse(steady(answer)))
})

test('the stream of the page begins as it shows', async () => {
  const [, session = ''] = commands
  const [line = '', ...shown] = session.trimEnd().split('\n')
  const printed = (await typed(line.replace(/^\$ /, ''))).split('\n').slice(0, shown.length)
  assert.equal(printed.length, 4)
  for (const [at, text] of shown.entries()) {
    const parts = text.split('...').map((part) => part.replaceAll(/[{}[\]().]/g, String.raw`\$&`))
    assert.match(printed[at] ?? '', new RegExp(`^${parts.join('.+')}$`))
  }
})
