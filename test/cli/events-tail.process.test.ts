/** `events tail` is stopped by signals: each of these is a process of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import type { OutgoingEventJson } from '../../src/wire/outgoing-event.ts'
import { embedded, onPostgres, type TestEngine } from '../support/databases.ts'
import { apiToken, createOverHttp, deploy, makeTable, postFake } from '../support/deployment.ts'
import { startLocalService } from '../support/local-service.ts'
import { startProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

interface Feed {
  readonly data: readonly OutgoingEventJson[]
  readonly next_cursor: string
}

/** A service that can be started again, and what tests do beside it. */
async function serve(engine: TestEngine) {
  const deployment = await deploy(engine)
  let service = await startLocalService(deployment)
  const database = await deployment.connect()
  await makeTable(database)
  await database.close()
  const feed = async (query: string) => {
    const headers = { authorization: `Bearer ${apiToken}` }
    const path = `${service.url}/billing/api/events?order=asc&${query}`
    return (await (await fetch(path, { headers })).json()) as Feed
  }
  const end = async () => (await feed('after=end')).next_cursor
  /** Its events are in the feed. */
  const pay = async (results: readonly ('success' | 'failure')[] = ['success']) => {
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id))
    for (const result of results) {
      const cursor = await end()
      assert.equal(await postFake(service.url, id, result), 200)
      assert.equal((await feed(`after=${cursor}&wait=50`)).data.length, 1)
    }
    return id
  }
  return {
    feed,
    end,
    pay,
    tail: (...args: readonly string[]) => startProcess(['events', 'tail', ...args], deployment),
    restart: async () => {
      await service.stop()
      service = await startLocalService(deployment)
    },
    [Symbol.asyncDispose]: async () => {
      await service.stop()
      await deployment.remove()
    },
  }
}

// On PostgreSQL it would not notice that the service starts again.
test('events tail follows the feed from where it is told, each event once, also over a restart of the service', async () => {
  await using service = await serve(embedded)
  const { pay } = service
  const cursor = await service.end()
  const ids = [await pay(), await pay(['failure', 'success'])]
  const following = service.tail('--after', cursor)
  ids.push(await pay())
  await following.line(new RegExp(`${ids.at(-1)}`))
  assert.deepEqual(following.stderr, [])
  await service.restart()
  // No entry of the log is before it.
  assert.match(await following.line(/^Lost|"level":/), /^Lost/)
  ids.push(await pay())
  await following.line(new RegExp(`${ids.at(-1)}`))
  await following.line(/Connected again/)
  const { code, stdout, stderr } = await following.stop()
  assert.deepEqual(
    [code, stderr],
    [0, ['Lost the service, or its database: waiting for it.', 'Connected again.']],
  )
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
      line('PaymentSucceeded', ids[3]),
    ],
  )
})

onPostgres((engine) => {
  test('events tail begins at the end, wants what it is asked for, and --json prints what the feed has', async () => {
    await using service = await serve(engine)
    const { pay } = service
    const cursor = await service.end()
    const before = await pay(['failure'])
    const following = service.tail('--json', '--type', 'PaymentFailed', '--gateway', 'fake')
    await until(
      async () => {
        await pay(['failure'])
        return following.stdout.length > 0
      },
      { what: 'it follows the feed' },
    )
    await pay()
    const last = await pay(['failure'])
    await following.line(new RegExp(last))
    // Interrupted, as from a terminal.
    following.child.kill('SIGINT')
    const { code, stdout, stderr } = await following.ended
    assert.deepEqual([code, stderr], [0, []])
    assert.ok(!stdout.join('\n').includes(before))
    const { data } = await service.feed(`after=${cursor}`)
    const failed = data.filter(({ type }) => type === 'PaymentFailed')
    assert.deepEqual(
      stdout.map((line) => JSON.parse(line) as unknown),
      failed.slice(-stdout.length),
    )
  })
})
