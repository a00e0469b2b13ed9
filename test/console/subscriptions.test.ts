import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import {
  cancelSubscription,
  changePlan,
  pauseSubscription,
  resumeSubscription,
} from '../../src/console/pages/subscription-actions.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { scriptedGateway, type Script } from '../money/scripted.ts'
import { answers, declined, takesMoney, type Till } from '../subscriptions/subscribing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import {
  actionsOn,
  assertHarmless,
  consolePages,
  hostile,
  type ConsolePages,
} from './console-pages.ts'

test('to resume may charge, so it wants the token again; nothing else does', () => {
  assert.equal(resumeSubscription.movesMoney, true)
  for (const action of [cancelSubscription, pauseSubscription, changePlan]) {
    assert.equal(action.movesMoney ?? false, false)
  }
})

onAnyDatabase((engine) => {
  describe('the pages of subscriptions', () => {
    let billing: StatedBilling
    let pages: ConsolePages
    const script: Script = {}
    const till: Till = { asked: [], debits: [] }
    before(async () => {
      takesMoney(script, till)
      billing = await openStated(engine, {
        extraGateways: [stating, { ...scriptedGateway(script), chargesPerMinute: 600_000 }],
        providerTimeoutMs: 30_000,
        plans: {
          pro: {
            amount: 19_900,
            currency: 'USD',
            every: 'month',
            trialDays: 14,
            quotas: { messages: { limit: 1_000 } },
          },
        },
      })
      pages = consolePages(billing.core)
    })
    after(() => billing.close())

    const card = async () => {
      const id = newUuid()
      await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
        values (${id}::uuid, 'scripted', 'attached', ${`pm_${id}`})`.execute(billing.database.db)
      return id
    }
    const terms = { gateway: 'scripted', amount: 4_999, currency: 'USD', every: 'month' } as const
    const create = async (input: Partial<CreateSubscriptionInput> = {}) => {
      const payable = { type: 'account', id: newUuid() }
      const made = await billing.core.subscriptions.create({
        ...terms,
        payable,
        paymentMethodId: await card(),
        ...input,
      })
      return made.subscription
    }
    const status = async (id: string) => (await billing.core.subscriptions.get(id))?.status

    test('the filters narrow the list, and a wrong one says what it must be', async () => {
      const one = await create({ payable: { type: 'account', id: 'acme-7' } })
      const canceled = await create()
      await billing.core.subscriptions.cancel(canceled.id, { at: 'now' })
      const shows = async (query: string) => {
        const { html } = await pages.get(`/subscriptions?${query}`)
        return [one, canceled].map(({ id }) => html.includes(`/subscriptions/${id}"`))
      }
      assert.deepEqual(await shows(''), [true, true])
      assert.deepEqual(await shows('status=canceled'), [false, true])
      assert.deepEqual(await shows('payable=account:acme-7'), [true, false])
      assert.deepEqual(await shows('payable=account%20acme-7'), [true, false])
      assert.deepEqual(await shows('managed_by=provider'), [false, false])
      assert.deepEqual(await shows('managed_by=local&gateway=scripted'), [true, true])
      const wrong = await pages.get('/subscriptions?payable=acme')
      assert.equal(wrong.status, 400)
      assert.match(wrong.text, /for must be a type and an id, such as account:7/)
      assert.match(wrong.html, /name="payable" maxlength="200" value="acme"/)
      assert.equal((await pages.get('/subscriptions?cursor=x')).status, 400)
    })

    test('one shows who has access, what happened, what was charged and what is used', async () => {
      const { id } = await create({ plan: 'pro', trialDays: 0, amount: undefined })
      const found = await billing.core.subscriptions.get(id)
      const payment = found?.payments[0]
      assert.ok(payment)
      await billing.core.usage.record({
        subscriptionId: id,
        quota: 'messages',
        units: 140,
        key: newUuid(),
      })
      const { text, html } = await pages.get(`/subscriptions/${id}`)
      assert.match(text, /account [\w-]+ has access , paid until/)
      assert.match(text, /incomplete -> active, paid; access/)
      assert.match(text, /period 1, saved card 199\.00 USD paid/)
      assert.match(text, /messages 140 1,000 860/)
      assert.ok(html.includes(`/admin/billing/payments/${payment.id}"`))
      assert.match(html, /<a href="https:\/\/admin\.example\.com\/account\/[\w-]+">account /)
      assert.equal((await pages.get(`/subscriptions/${newUuid()}`)).status, 404)
      assert.equal((await pages.get('/subscriptions/none')).status, 404)
    })

    test('a declined charge shows what is owed, and where the customer pays it', async () => {
      answers({ script, till }, declined('no_money'))
      const { id } = await create()
      takesMoney(script, till)
      const { text, html } = await pages.get(`/subscriptions/${id}`)
      assert.match(text, /has no access\./)
      assert.match(text, /Owed for period 1: \$49\.99 \. It was declined once\./)
      assert.match(text, /no_money/)
      assert.match(html, /<a href="[^"]+" rel="noreferrer">/)
    })

    test('what strangers wrote is shown as text', async () => {
      const { id } = await create({
        payable: { type: 'account', id: hostile },
        description: hostile,
        customer: { email: hostile },
      })
      assertHarmless(await pages.get(`/subscriptions/${id}`))
      assertHarmless(await pages.get('/subscriptions'))
    })

    test('it is canceled with what is paid, and resumed; each form does it once', async () => {
      const { id } = await create()
      const asked = await pages.get(`/subscriptions/${id}/cancel`)
      assert.match(asked.text, /No money is given back by this\. Of what is paid, \$49\.9\d/)
      assert.doesNotMatch(asked.text, /manages it, and is asked/)
      const form = await pages.form(`/subscriptions/${id}/cancel`, { at: 'period_end' })
      const done = await pages.post(`/subscriptions/${id}/cancel`, form)
      assert.equal(done.status, 303)
      assert.match(done.location ?? '', /done=subscription_end_planned$/)
      assert.equal(await status(id), 'active')
      await pages.press(`/subscriptions/${id}/resume`)
      assert.equal((await billing.core.subscriptions.get(id))?.cancelAt, null)
      const again = await pages.post(`/subscriptions/${id}/cancel`, form)
      assert.match(again.location ?? '', /done=already$/)
      assert.equal((await billing.core.subscriptions.get(id))?.cancelAt, null)
      assert.deepEqual(await actionsOn(billing.core, id), [
        { operator: 'ops-1', action: 'resumeSubscription', detail: {}, outcome: 'active' },
        {
          operator: 'ops-1',
          action: 'cancelSubscription',
          detail: { at: 'period_end' },
          outcome: 'planned',
        },
      ])
    })

    test('it is canceled at once, and then there is nothing to do', async () => {
      const { id } = await create()
      const done = await pages.press(`/subscriptions/${id}/cancel`, { at: 'now' })
      assert.match(done.location ?? '', /done=subscription_canceled$/)
      assert.equal(await status(id), 'canceled')
      const { text, html } = await pages.get(`/subscriptions/${id}`)
      assert.match(text, /Why it ended Somebody asked for it\./)
      assert.ok(!html.includes(`/subscriptions/${id}/cancel`))
      const late = await pages.press(`/subscriptions/${id}/pause`, { at: 'now' })
      assert.equal(late.status, 409)
      assert.match(late.html, /class="fault" role="alert"/)
    })

    test('a pause stops it, and the page says when access ends', async () => {
      const { id } = await create()
      await pages.press(`/subscriptions/${id}/pause`, { at: 'period_end' })
      assert.match((await pages.get(`/subscriptions/${id}`)).text, /until it pauses at/)
      await pages.press(`/subscriptions/${id}/pause`, { at: 'now' })
      assert.equal(await status(id), 'paused')
    })

    test('another plan counts from the next period on; of one that there is not, the form says so', async () => {
      const { id } = await create()
      const wrong = await pages.press(`/subscriptions/${id}/change`, { plan: 'gold"plate' })
      assert.equal(wrong.status, 422)
      assert.match(wrong.html, /value="gold&quot;plate"/)
      const done = await pages.press(`/subscriptions/${id}/change`, { plan: 'pro' })
      assert.match(done.location ?? '', /done=subscription_changed$/)
      const { text } = await pages.get(`/subscriptions/${id}`)
      assert.match(text, /Then \$199\.00 every month, from period 2 on/)
    })
  })
})
