import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import type { OutgoingEventJson } from '../../src/wire/outgoing-event.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  createOverHttp,
  deployOpen,
  finished,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import { interpreter } from '../support/interpreters.ts'
import { freePort, startProcess, startService, type RunningService } from '../support/process.ts'
import { isCaughtWithin } from './caught-within.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { until } from '../support/until.ts'
import { root } from '../tidy/source-files.ts'

const readToken = 'token-that-only-reads'
const readers = [
  { file: 'reader.py', language: interpreter('python3') },
  { file: 'reader.php', language: interpreter('php') },
] as const

interface FeedAnswer {
  readonly data: readonly OutgoingEventJson[]
  readonly next_cursor: string
  readonly has_more: boolean
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let service: RunningService
  before(async () => {
    deployment = await deployOpen(engine)
    const { cwd, env } = deployment
    service = await startService({ cwd, env: { ...env, BILLING_READ_TOKEN: readToken } })
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  /** The whole feed, once all that was sent is in it. */
  async function wholeFeed() {
    await finished(deployment.database)
    const unnumbered = sql`select from billing.events where position is null`
    const isNumbered = async () =>
      (await unnumbered.execute(deployment.database.db)).rows.length === 0
    await until(isNumbered, { what: 'all events are in the feed' })
    const headers = { authorization: `Bearer ${apiToken}` }
    const data: OutgoingEventJson[] = []
    for (let after = 'start'; ;) {
      const url = `${service.url}/billing/api/events?order=asc&limit=500&after=${after}`
      const page = (await (await fetch(url, { headers })).json()) as FeedAnswer
      data.push(...page.data)
      after = page.next_cursor
      if (!page.has_more) return { data, last: after }
    }
  }

  /** A third is paid, a third is declined and then paid, a third only declined. */
  async function sell(orders: readonly string[]): Promise<void> {
    for (const [at, id] of orders.entries()) {
      assert.ok(await createOverHttp(service.url, id))
      for (const result of outcomes[at % outcomes.length] ?? []) {
        assert.equal(await postFake(service.url, id, result), 200)
      }
    }
  }

  for (const { file, language } of readers) {
    describe(file, { skip: language.missing }, () => {
      const start = (path: string, { url = service.url, words = [] as readonly string[] } = {}) =>
        startProcess([join(root, 'examples/feed-reader', file), ...words], {
          runtime: language.program,
          env: { QUITTANCE_URL: url, BILLING_READ_TOKEN: readToken, SHOP_DATABASE: path },
        })

      test('killed again and again, it marks each paid order and hears of each event once', async () => {
        using folder = temporaryFolder()
        const orders = Array.from({ length: 42 }, newUuid)
        const { path, shop, journal } = openShop(folder.path, orders)
        await sell(orders.slice(0, 12))
        const selling = sell(orders.slice(12))
        let within = 0
        for (let kills = 0; kills < 6; kills += 1) {
          const heard = countOf(shop)
          const reader = start(path)
          // Within a transaction, right after one that did something, and at any time.
          const moments = [() => isCaughtWithin(reader, journal), () => countOf(shop) > heard]
          const moment = moments[kills % 3] ?? (() => false)
          const usually = moments[kills % 3] === undefined ? Math.random() * 1_500 : 10_000
          // The first one has something to hear, whenever it begins.
          const limitMs = kills === 0 ? 240_000 : usually
          // All may have been heard already.
          await until(moment, { what: 'it is time', limitMs }).catch(() => {})
          await reader.kill()
          if (existsSync(journal)) within += 1
        }
        await selling
        const { data, last } = await wholeFeed()
        const reader = start(path)
        await until(() => cursorOf(shop) === last, { what: 'all is read' })
        await reader.kill()
        assert.ok(within > 0, 'none of the kills came within a transaction')
        const history = shop.prepare('select position, event, order_id as id from history').all()
        assert.deepEqual(
          history.map((one) => ({ ...one })),
          data.map(({ position, type: event, data: { payment } }) => {
            return { position, event, id: (payment as { readonly id: string }).id }
          }),
        )
        const paid = shop.prepare('select id from orders where paid = 1').all()
        assert.deepEqual(
          new Set(paid.map(({ id }) => id)),
          new Set(orders.filter((_id, at) => at % outcomes.length !== declined)),
        )
        shop.close()
      })

      test('it stops at a cursor that is unknown, and goes on from a time', async () => {
        using folder = temporaryFolder()
        const orders = Array.from({ length: 3 }, newUuid)
        const { path, shop } = openShop(folder.path, orders)
        await sell(orders)
        const { last, data } = await wholeFeed()
        shop.prepare('insert into reader values (?, ?)').run(newUuid(), '2026-11-20T12:00:00.000Z')
        const { code, stderr } = await start(path).ended
        assert.equal(code, 1)
        assert.match(stderr.join(), /cursor_unknown: .* Last event: 2026-11-20T12:00:00.000Z/)
        const since = data.at(-2)?.timestamp ?? ''
        const reader = start(path, { words: ['--since', since] })
        await until(() => cursorOf(shop) === last, { what: 'all is read' })
        await reader.kill()
        const heard = shop.prepare('select position from history order by position').all()
        assert.equal(heard.at(-1)?.['position'], data.at(-1)?.position)
        assert.ok(heard.length >= 2 && heard.length < data.length)
        shop.close()
      })

      test('it stops where its token is refused, and waits where nobody answers', async () => {
        using folder = temporaryFolder()
        const { path, shop } = openShop(folder.path, [])
        const nobody = start(path, { url: `http://127.0.0.1:${await freePort()}` })
        await nobody.line(/no answer/)
        assert.equal(nobody.child.exitCode, null)
        await nobody.kill()
        const refused = startProcess([join(root, 'examples/feed-reader', file)], {
          runtime: language.program,
          env: { QUITTANCE_URL: service.url, BILLING_READ_TOKEN: 'x', SHOP_DATABASE: path },
        })
        const { code, stderr } = await refused.ended
        assert.equal(code, 1)
        assert.match(stderr.join(), /^401: /)
        shop.close()
      })
    })
  }
})

const outcomes = [['success'], ['failure', 'success'], ['failure']] as const
const declined = 2

/** A shop with these orders, where a reader is slow enough to be killed within a transaction. */
function openShop(folder: string, orders: readonly string[]) {
  const path = join(folder, 'shop.db')
  const shop = new DatabaseSync(path, { timeout: 30_000 })
  shop.exec(`
    create table orders (id text primary key, paid integer not null default 0);
    create table history (position integer, event text, order_id text, status text);
    create table reader (cursor text not null, last_event_at text);
    create trigger slow_effect after insert on history begin ${slowly(20_000)} end;
    create trigger slow_cursor after update on reader begin ${slowly(200_000)} end`)
  const insert = shop.prepare('insert into orders (id) values (?)')
  for (const id of orders) insert.run(id)
  return { path, shop, journal: `${path}-journal` }
}

function slowly(steps: number): string {
  return `select count(*) from (with recursive n (at) as
    (select 1 union all select at + 1 from n limit ${steps}) select at from n);`
}

function cursorOf(shop: DatabaseSync): unknown {
  return shop.prepare('select cursor from reader').get()?.['cursor']
}

function countOf(shop: DatabaseSync): number {
  return Number(shop.prepare('select count(*) as count from history').get()?.['count'])
}
