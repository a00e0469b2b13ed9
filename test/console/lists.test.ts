/** The pages of each noun of the console, in one world: its lists, and what viewers see of it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { routes } from '../../src/console/pages/index.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { issuing } from '../invoices/sellers.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { consolePages, type ConsolePages } from './console-pages.ts'

/** By the name of its list: what that says while there is none. */
const nouns: Readonly<Record<string, RegExp>> = {
  payments: /There is no such payment\./,
  calls: /There is no such call/,
  events: /There is no such event\./,
  invoices: /There is no such document\./,
  subscriptions: /There is no such subscription\./,
  reviews: /Nothing needs a person\./,
}

/** Lists with more rows than a page, and what they are asked for. */
const long = ['/payments?status=canceled', '/calls?gateway=fake', '/events?type=PaymentLinkOpened']

/** The ends of the paths of forms about one thing. */
const forms = routes.flatMap((route) =>
  'action' in route ? (/^\/\w+\/:id\/([\w-]+)$/.exec(route.path)?.slice(1) ?? []) : [],
)

onAnyDatabase((engine) => {
  describe('in the console', () => {
    let billing: StatedBilling
    let pages: ConsolePages
    let viewer: ConsolePages
    const empty = new Map<string, string>()
    /** One of each noun, by its list. */
    let ids: Readonly<Record<string, string>>
    before(async () => {
      billing = await openStated(engine, { invoices: issuing })
      pages = consolePages(billing.core)
      viewer = consolePages(billing.core, { role: 'viewer' })
      for (const noun of Object.keys(nouns)) {
        empty.set(noun, (await pages.get(`/${noun}`)).text)
      }
      ids = await fill(billing)
    })
    after(() => billing.close())

    for (const [noun, none] of Object.entries(nouns)) {
      test(`an empty list of ${noun} says so`, () => {
        assert.match(empty.get(noun) ?? '', none)
      })

      test(`a viewer sees one of the ${noun}, and no form for it`, async () => {
        const at = `/${noun}/${ids[noun] ?? assert.fail()}`
        const isForm = new RegExp(`${at}/(?:${forms.join('|')})[?"]|/resend[?"]`)
        assert.match((await pages.get(at)).html, isForm)
        const { status, html } = await viewer.get(at)
        assert.equal(status, 200)
        assert.doesNotMatch(html, isForm)
        // Viewers, too, take the body of a call with them.
        if (noun !== 'calls') assert.doesNotMatch(html, /class="button"/)
      })

      test(`one of the ${noun} that there is not is not found`, async () => {
        for (const id of [newUuid(), '42']) {
          assert.equal((await pages.get(`/${noun}/${id}`)).status, 404, id)
        }
      })
    }

    test('a viewer marks no calls', async () => {
      assert.match((await pages.get('/calls')).html, /name="call"/)
      assert.doesNotMatch((await viewer.get('/calls')).html, /name="call"|Replay/)
    })

    for (const list of long) {
      test(`${list} has 50 rows on a page, and leads to those behind them, each shown once`, async () => {
        const first = await pages.get(list)
        const [, next = ''] = /rel="next" href="\/admin\/billing([^"]*)"/.exec(first.html) ?? []
        const second = await pages.get(next.replaceAll('&amp;', '&'))
        const [path = ''] = list.split('?')
        const rows = [first, second].map(({ html }) => [
          ...new Set(
            Array.from(html.matchAll(new RegExp(`${path}/([\\w-]{36})"`, 'g')), ([, id]) => id),
          ),
        ])
        assert.deepEqual(
          rows.map(({ length }) => length),
          [50, 10],
        )
        assert.equal(new Set(rows.flat()).size, 60)
        assert.ok(!second.html.includes('rel="next"'))
        assert.match(second.html, /First page/)
        assert.doesNotMatch(first.text, /Looked back/)
      })
    }
  })
})

async function fill(billing: StatedBilling): Promise<Readonly<Record<string, string>>> {
  const { core, database } = billing
  const card = newUuid()
  await sql`insert into billing.payment_methods (id, gateway, live, status, provider_reference)
    values (${card}::uuid, 'fake', false, 'attached', ${`fake_card_good_${card}`})`.execute(
    database.db,
  )
  const { subscription } = await core.subscriptions.create({
    gateway: 'fake',
    amount: 4_999,
    currency: 'USD',
    every: 'month',
    payable: { type: 'account', id: '7' },
    paymentMethodId: card,
  })
  const invoice = await core.invoices.issue((await billing.create()).id)
  const doubtful = await billing.create()
  await billing.say({ ...paid(doubtful), amount: 1n, providerReference: 'pi_1' })
  const [review] = (await core.reviews.list({ paymentId: doubtful.id })).data
  const payment = await billing.create({ gateway: 'fake' })
  const owned = await billing.create()
  const call = await billing.say(paid(owned))
  const [event] = (await core.events.list({ paymentId: owned.id })).data
  await copyRows(billing, owned.id)
  return {
    payments: payment.id,
    calls: call.id,
    events: event?.id ?? '',
    invoices: invoice.id,
    subscriptions: subscription.id,
    reviews: review?.id ?? '',
  }
}

/** Sixty of those that may be very many. */
async function copyRows({ database: { db } }: StatedBilling, payment: string): Promise<void> {
  await sql`insert into billing.payments (id, gateway, status, amount, currency, payable_type, payable_id,
      created_at)
    select gen_random_uuid(), gateway, 'canceled', amount, currency, payable_type, payable_id,
      created_at - make_interval(secs => number)
    from billing.payments, generate_series(1, 60) as number where id = ${payment}::uuid`.execute(db)
  await sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload, outcome,
      state)
    select gen_random_uuid(), 'fake', 'default', '/', '{}', 'json', '[]', '[]', 'ignored'
    from generate_series(1, 60)`.execute(db)
  await sql`insert into billing.events (id, dedup_key, type, source, superseded, data)
    select gen_random_uuid(), 'test:' || number, 'PaymentLinkOpened', 'browser', false, '{}'
    from generate_series(1, 60) as number`.execute(db)
}
