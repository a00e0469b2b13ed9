import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { apiToken, createOverHttp, finished, postFake } from '../support/deployment.ts'
import { onPostgres } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { openStream, partsOf, startFeedService, type FeedService } from './feed-service.ts'

const readToken = 'token-that-only-reads'

onPostgres(() => {
  let feed: FeedService
  before(async () => {
    feed = await startFeedService({ BILLING_READ_TOKEN: readToken })
  })
  after(() => feed[Symbol.asyncDispose]())

  async function pay(): Promise<string> {
    const id = newUuid()
    assert.ok(await createOverHttp(feed.service.url, id))
    assert.equal(await postFake(feed.service.url, id, 'success'), 200)
    return id
  }

  /** All that was sent is in the feed. */
  async function settled(): Promise<void> {
    const { database } = feed.deployment
    await finished(database)
    const unnumbered = sql`select from billing.events where position is null`
    await until(async () => (await unnumbered.execute(database.db)).rows.length === 0, {
      what: 'all events are numbered',
    })
  }

  /** The connections for notifications that processes have for those who wait. */
  async function listeners(): Promise<readonly number[]> {
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
      where application_name = 'quittance feed' and datname = current_database()`.execute(
      feed.deployment.database.db,
    )
    return rows.map(({ pid }) => pid)
  }

  /** Somebody waits in a process where nobody did before. */
  const anotherListens = (before: readonly number[]) =>
    until(async () => (await listeners()).some((pid) => !before.includes(pid)), {
      what: 'somebody waits',
    })

  const end = async () => {
    await settled()
    return (await feed.feed('after=end')).next_cursor
  }

  test('an event goes out with what it is about, as it stands', async () => {
    const cursor = await end()
    const id = newUuid()
    await createOverHttp(feed.service.url, id)
    await postFake(feed.service.url, id, 'failure')
    const declined = await feed.feed(`after=${cursor}&wait=50`)
    assert.deepEqual(
      declined.data.map(({ type, superseded, data }) => [
        type,
        superseded,
        data['payment']?.['status'],
      ]),
      [['PaymentFailed', false, 'failed']],
    )
    await postFake(feed.service.url, id, 'success')
    const paid = await feed.feed(`after=${declined.next_cursor}&wait=50`)
    assert.deepEqual(
      paid.data.map(({ type, position }) => [type, position]),
      [['PaymentSucceeded', (declined.data[0]?.position ?? 0) + 1]],
    )
    // The same place, read again: the decline says what has become of it.
    const again = await feed.feed(`after=${cursor}`)
    assert.deepEqual(
      again.data.map(({ type, superseded, data }) => [
        type,
        superseded,
        data['payment']?.['status'],
      ]),
      [
        ['PaymentFailed', true, 'paid'],
        ['PaymentSucceeded', false, 'paid'],
      ],
    )
    const one = await feed.get(`/events/${paid.data[0]?.id}`)
    const listed = (await one.json()) as { data: unknown; payment_id: string }
    assert.deepEqual([listed.payment_id, listed.data], [id, paid.data[0]?.data])
  })

  test('whoever waits is answered by what another process commits, and empty after the wait (8)', async () => {
    await using other = await startFeedService({}, feed.deployment)
    const cursor = await end()
    const before = await listeners()
    const waiting = other.feed(`after=${cursor}&wait=50`)
    await anotherListens(before)
    const id = await pay()
    const { data, next_cursor: next } = await waiting
    assert.deepEqual(
      data.map((event) => String(event.data['payment']?.['id'])),
      [id],
    )
    const begun = performance.now()
    const empty = await other.feed(`after=${next}&wait=1`)
    assert.ok(performance.now() - begun > 950, 'it did not wait')
    assert.deepEqual([empty.data, empty.next_cursor, empty.has_more], [[], next, false])
  })

  test('a service that stops answers whoever waits, with where to go on (8)', async () => {
    const other = await startFeedService({}, feed.deployment)
    const cursor = await end()
    const before = await listeners()
    const waiting = other.feed(`after=${cursor}&wait=50`)
    await anotherListens(before)
    const stream = await openStream(other.service.url, { query: 'after=end' })
    const [answer, ended] = await Promise.all([waiting, other.service.stop()])
    assert.deepEqual([answer.status, answer.data, answer.next_cursor], [200, [], cursor])
    assert.equal(ended.code, 0, ended.stderr.join('\n'))
    for await (const part of partsOf(stream.answer)) assert.equal(part.data, undefined)
  })

  test('a stream that is cut again and again tells each event once (9)', async () => {
    const cursor = await end()
    const told: string[] = []
    let lastId: string | undefined
    const paying = (async () => {
      const ids: string[] = []
      for (let count = 0; count < 40; count += 1) ids.push(await pay())
      return ids
    })()
    let cuts = 0
    while (told.length < 40) {
      const stream = await openStream(feed.service.url, { query: `after=${cursor}`, lastId })
      let room = cuts < 20 ? 2 : Infinity
      for await (const { id, data } of partsOf(stream.answer)) {
        // What came with the cut connection counts as read once its id is stored.
        if (id !== undefined) lastId = id
        if (data === undefined) continue
        const event = JSON.parse(data) as { data: { payment: { id: string } } }
        told.push(event.data.payment.id)
        room -= 1
        if (room === 0 || told.length === 40) break
      }
      stream.cut()
      cuts += 1
    }
    assert.ok(cuts > 19, `${cuts} cuts`)
    assert.deepEqual(told.toSorted(), (await paying).toSorted())
  })

  test('a stream that wants little is told how far it has looked, and does not look twice (9)', async () => {
    const cursor = await end()
    for (let count = 0; count < 3; count += 1) await pay()
    await settled()
    const { next_cursor: last } = await feed.feed(`after=${cursor}&type=PaymentRefunded&wait=1`)
    const stream = await openStream(feed.service.url, {
      query: 'type=PaymentRefunded,PaymentDisputed',
      lastId: cursor,
    })
    for await (const { id, data } of partsOf(stream.answer)) {
      if (id === undefined) continue
      assert.deepEqual([id, data], [last, undefined])
      break
    }
    stream.cut()
  })

  test('filters name types and a gateway; limits end a page', async () => {
    const cursor = await end()
    const ids = [await pay(), await pay(), await pay()]
    await settled()
    const first = await feed.feed(
      `after=${cursor}&type=PaymentSucceeded&gateway=fake&limit=2&wait=9`,
    )
    assert.deepEqual([first.data.length, first.has_more], [2, true])
    const rest = await feed.feed(`after=${first.next_cursor}&type=PaymentSucceeded&limit=2`)
    assert.deepEqual([rest.data.length, rest.has_more], [1, false])
    const seen = [...first.data, ...rest.data].map((event) => String(event.data['payment']?.['id']))
    assert.deepEqual(seen.toSorted(), ids.toSorted())
    const none = await feed.feed(`after=${cursor}&gateway=stripe`)
    assert.deepEqual([none.data, none.next_cursor], [[], rest.next_cursor])
  })

  test('since begins at a time, and says nothing from before it', async () => {
    const before = await pay()
    await settled()
    const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(
      feed.deployment.database.db,
    )
    const later = [await pay(), await pay()]
    await settled()
    const since = encodeURIComponent(rows[0]?.at.toISOString() ?? '')
    const { data } = await feed.feed(`since=${since}`)
    const seen = data.map((event) => String(event.data['payment']?.['id']))
    assert.ok(!seen.includes(before))
    assert.deepEqual(seen.toSorted(), later.toSorted())
    const future = await feed.feed('since=2999-01-01T00:00:00Z')
    assert.deepEqual([future.data, future.next_cursor], [[], await end()])
  })

  test('what cannot be read is refused, and says why', async () => {
    const refused = {
      'order=asc&after=yesterday': [400, /after must be start, end or the id of an event/],
      [`order=asc&after=${newUuid()}`]: [410, /there is no event/],
      'order=asc&wait=51': [400, /wait must be seconds from 0 to 50/],
      'order=asc&limit=501': [400, /limit must be a whole number from 1 to 500/],
      'order=asc&type=PaymentSucceeded,Nothing': [400, /type .*names of events/],
      'order=asc&payment_id=1': [400, /payment_id must be a UUID/],
      [`order=asc&payment_id=${newUuid()}`]: [400, /payment_id cannot be given with order=asc/],
      'order=asc&cursor=x': [400, /cursor cannot be given with order=asc/],
      'order=asc&gateway=nobody': [422, /nobody/],
      'order=asc&since=yesterday': [400, /since must be a time in ISO 8601/],
      'order=asc&after=end&since=2026-01-01T00:00:00Z': [400, /since cannot be given/],
      'order=up': [400, /order/],
      'after=end': [400, /after needs order=asc/],
      'limit=101': [400, /limit must be a whole number from 1 to 100; more with order=asc/],
      'nothing=1': [400, /unknown field .*nothing/],
    } as const
    for (const [query, [status, text]] of Object.entries(refused)) {
      const answer = await feed.get(`/events?${query}`)
      assert.equal(answer.status, status, query)
      assert.match(await answer.text(), text, query)
    }
  })

  test('the token for readers reads, and changes nothing (10)', async () => {
    const headers = { authorization: `Bearer ${readToken}` }
    const paths = ['/events?order=asc', '/payments', '/webhook-calls']
    for (const path of paths) assert.equal((await feed.get(path, { headers })).status, 200, path)
    const id = await pay()
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await feed.get(`/payments/${id}/refunds`, { method, headers })
      assert.equal(answer.status, 403, method)
      assert.match(await answer.text(), /may only read/)
    }
    const head = await feed.get('/events/stream', { method: 'HEAD', headers })
    assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/event-stream'])
  })

  test('a reader that never reads is cut, about 30 s later (10)', async () => {
    const { database } = feed.deployment
    // More than the buffers of a connection take.
    await sql`insert into billing.events (id, dedup_key, type, source, data)
      select gen_random_uuid(), 'filling:' || n, 'EndpointDisabled', 'service',
        jsonb_build_object('reason', 'gone', 'disabled_at', '2026-11-20T12:00:00.000Z', 'endpoint',
          jsonb_build_object('id', gen_random_uuid(), 'name', 'shop', 'url', repeat('x', 20000)))
      from generate_series(1, 1500) as n`.execute(database.db)
    await insertEvent(database.db)
    const { port } = new URL(feed.service.url)
    const socket = connect(Number(port), '127.0.0.1')
    socket.pause()
    socket.write(
      'GET /billing/api/events/stream HTTP/1.1\r\nhost: localhost\r\n' +
        `authorization: Bearer ${apiToken}\r\n\r\n`,
    )
    const open = sql<{ readers: number }>`select count(*)::int as readers from pg_stat_activity
      where application_name = 'quittance feed' and datname = current_database()`
    const readers = async () => (await open.execute(database.db)).rows[0]?.readers
    await until(async () => (await readers()) === 1, { what: 'it is read for' })
    // Its place is free, and with it the connection that listens for readers, 10 s after the last.
    await until(async () => (await readers()) === 0, { what: 'it is cut', limitMs: 300_000 })
    socket.destroy()
  })
})
