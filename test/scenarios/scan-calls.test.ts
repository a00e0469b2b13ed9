import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { scanCalls, type ScanQuery } from '../../src/inspect/scan-calls.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { openBilling, sendJson, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { idMadeAt } from '../support/id-made-at.ts'

const many = 21_500
const now = new Date('2026-11-26T12:00:00Z')
/** One each two seconds, the newest of them two seconds ago. */
const at = `timestamptz '2026-11-26T12:00:00Z' - number * interval '2 s'`

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
    // A needle in each thousandth, and one older than a day.
    await sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload, state,
        received_at, processed_at)
      select ${sql.raw(idMadeAt(at))}, 'fake', 'default', '/', '{}', 'json',
        json_build_object('no', number, 'note', case when number % 1000 = 0 then 'needle' else 'hay' end),
        'processed', ${sql.raw(at)}, now()
      from (select generate_series(1, ${many}::int) as number union all select 45000) as numbers`.execute(
      billing.database.db,
    )
  })
  after(() => billing.close())

  const scan = (query: ScanQuery, ticks = () => 0) =>
    scanCalls(billing.database.db, query, { now, ticks })
  const scanAll = async (query: ScanQuery, ticks?: () => number) => {
    const [ids, pages]: [string[], number[]] = [[], []]
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await scan({ ...query, ...(cursor && { cursor }) }, ticks)
      ids.push(...page.data.map(({ id }) => id))
      pages.push(page.data.length)
      cursor = page.nextCursor
    }
    return { ids, pages }
  }
  const secondsAgo = (date: Date) => Math.round((now.getTime() - date.getTime()) / 1000)

  test('20,000 are looked at, and the next page goes on to the end of the day', async () => {
    const first = await scan({ text: 'needle', limit: 100 })
    assert.deepEqual(
      first.data.map(({ receivedAt }) => secondsAgo(receivedAt)),
      Array.from({ length: 20 }, (_, index) => (index + 1) * 2_000),
    )
    assert.equal(secondsAgo(first.lookedBackTo), 40_000)
    assert.ok(first.nextCursor)
    const second = await scan({ text: 'needle', limit: 100, cursor: first.nextCursor })
    assert.deepEqual(
      second.data.map(({ receivedAt }) => secondsAgo(receivedAt)),
      [42_000],
    )
    assert.equal(second.nextCursor, null)
    assert.equal(secondsAgo(second.lookedBackTo), 86_400)
  })

  test('its pages miss none and repeat none, whatever their length', async () => {
    const { ids: all } = await scanAll({ text: 'needle', limit: 100 })
    assert.equal(new Set(all).size, 21)
    for (const limit of [1, 7, 20]) {
      const { ids, pages } = await scanAll({ text: 'needle', limit })
      assert.deepEqual(ids, all, `pages of ${limit}`)
      assert.ok(Math.max(...pages) <= limit)
    }
  })

  test('after two seconds a page ends, and the next one goes on from there', async () => {
    let time = 0
    const slow = () => (time += 1_100)
    const page = await scan({ text: 'needle' }, slow)
    assert.deepEqual(page.data, [])
    assert.equal(secondsAgo(page.lookedBackTo), 200, 'the first hundred')
    const from = new Date(now.getTime() - 6_000_000)
    const { ids, pages } = await scanAll({ text: 'needle', from }, slow)
    assert.equal(ids.length, 3)
    assert.ok(pages.length >= 29, `${pages.length} pages of a hundred`)
  })

  test('a time narrows it; a cursor keeps the beginning that its first page had', async () => {
    const between = {
      from: new Date('2026-11-26T10:00:00Z'),
      until: new Date('2026-11-26T11:00:00Z'),
    }
    const { data, nextCursor, lookedBackTo } = await scan({ text: 'needle', ...between })
    assert.deepEqual(
      data.map(({ receivedAt }) => secondsAgo(receivedAt)),
      [4_000, 6_000],
    )
    assert.equal(nextCursor, null)
    assert.deepEqual(lookedBackTo, between.from)
    assert.equal((await scan({ text: 'needle', until: between.from, limit: 1 })).data.length, 1)
    const old = await scan({ text: '"no" : 45000', from: new Date('2026-11-25T10:00:00Z') })
    assert.ok(old.nextCursor)
    const rest = await scan({ text: '"no" : 45000', cursor: old.nextCursor })
    assert.equal(rest.data.length, 1)
    assert.deepEqual(rest.lookedBackTo, new Date('2026-11-25T10:00:00Z'))
  })

  test('what a person types is found however the provider has escaped it', async () => {
    const payment = newUuid()
    const sent = [
      String.raw`{"payment_id":"${payment}","result":"success","note":"Оплата \"№ 7\"","url":"https:\/\/shop.example\/a"}`,
      String.raw`{"payment_id":"${payment}","result":"success","note":"\u041e\u043f\u043b\u0430\u0442\u0430 \u263A\/x"}`,
    ]
    for (const body of sent) {
      const answer = await billing.core.receive({
        gateway: 'fake',
        target: '/billing/webhooks/fake',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(body),
      })
      assert.equal(answer.status, 200)
    }
    await sendJson(billing.core, 'fake', { payment_id: payment, result: 'failure' })
    const counts = async (text: string) =>
      (await billing.core.inspect.callsWith({ text })).data.length
    assert.equal(await counts('Оплата'), 2)
    assert.equal(await counts('Оплата "№ 7"'), 1)
    assert.equal(await counts('https://shop.example/a'), 1)
    assert.equal(await counts('☺/x'), 1)
    assert.equal(await counts('"result":"failure"'), 1)
    assert.equal(await counts('оплата'), 0, 'capitals count')
  })

  test('no text breaks it, and what cannot be asked is refused', async () => {
    for (const text of ["'", '%', '_', '\\', '$1', "'; drop table billing.payments; --"]) {
      const expected = text === '_' ? 1 : 0
      const from = new Date('2030-01-01T00:00:00Z')
      assert.ok((await scan({ text, from })).data.length <= expected, text)
    }
    const inspect = billing.core.inspect
    for (const text of ['', ' ', '\0', '\ud800', 'x'.repeat(501), 42, undefined]) {
      await assert.rejects(inspect.callsWith({ text } as never), { code: 'query_invalid' })
    }
    await assert.rejects(inspect.callsWith({ text: 'x', from: '2026' } as never), {
      code: 'query_invalid',
    })
    await assert.rejects(inspect.callsWith({ text: 'x', cursor: 'x' }), { code: 'cursor_invalid' })
  })
})
