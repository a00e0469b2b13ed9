import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { writeRefusal } from '../../src/database/refusals.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { writeCounts } from '../inspect/counting.ts'
import { consolePath, visiting, type Visitor } from './visitor.ts'

onAnyDatabase((engine) => {
  describe('the overview of the console', () => {
    let billing: TestBilling
    let olena: Visitor
    before(async () => {
      billing = await openBilling(engine)
      olena = visiting(billing.core)('olena')
    })
    after(() => billing.close())

    const failedCall = async (exception: string) => {
      const payment = await newPayment(billing.core)
      await sendFake(billing.core, payment.id, 'success')
      await sql`update billing.webhook_calls set state = 'failed', exception = ${exception}
        where state = 'pending'`.execute(billing.database.db)
      return payment
    }

    test('says that nothing needs attention, over each span', async () => {
      for (const span of ['', '?span=1h', '?span=7d', '?span=30d', '?span=never']) {
        const { status, text } = await olena.open(span)
        assert.equal(status, 200)
        assert.match(text, /Nothing needs attention\./)
      }
    })

    test('names what failed first, and leads to it', async () => {
      await failedCall('in listener grantAccess: Error: deadlock\n    at somewhere')
      const { text, html } = await olena.open('')
      assert.match(text, /Needs attention calls that failed for good: 1.*mostly at grantAccess/)
      assert.ok(html.includes(`${consolePath}/failed?kind=call`))
    })

    test('draws what was counted, with the figures as a table', async () => {
      await writeCounts(billing, 'callbacks_total', { values: { accepted: 41 } })
      const { text, html } = await olena.open('?span=1h')
      assert.match(text, /Accepted 41/)
      assert.match(html, /<rect class="a"/)
      assert.match(text, /As a table.*accepted.*41/)
      assert.doesNotMatch(html, /style="/)
    })

    test('what failed is in groups, and a group is replayed as one run, once', async () => {
      await failedCall('in listener grantAccess: Error: deadlock\n    at elsewhere')
      const { text, html } = await olena.open('/failed')
      assert.match(text, /call of fake .*grantAccess .*Error: deadlock/)
      const [, link = ''] =
        /href="([^"]+runs\/new\?kind=call[^"]*listener=grantAccess[^"]*)"/.exec(html) ?? []
      assert.ok(link.includes('exception='), link)
      await failedCall('in listener grantAccess: Error: another reason')
      const filled = await olena.open(link.replaceAll('&amp;', '&'))
      assert.match(filled.html, /name="exception"[^>]*value="Error: deadlock"/)
      const form = await olena.hidden('/runs/new?kind=call')
      form.set('kind', 'call')
      form.set('gateway', 'fake')
      form.set('exception', 'Error: deadlock')
      const answers = await Promise.all([1, 2].map(() => olena.send('/runs/new', form)))
      assert.deepEqual(
        answers.map(({ status }) => status),
        [303, 303],
      )
      const { data } = await billing.core.runs.list()
      assert.equal(data.length, 1)
      assert.equal(data[0]?.operator, 'olena')
      assert.equal(data[0].estimate, 2)
      const run = await olena.open(`/runs/${data[0].id}`)
      assert.match(run.text, /call, fake, Error: deadlock/)
      assert.match((await olena.open('/runs')).text, /olena/)
      const stopped = await olena.submit(`/runs/${data[0].id}/stop`)
      assert.equal(stopped.status, 303)
      assert.equal((await olena.open(`/runs/${newUuid()}`)).status, 404)
    })

    test('a run that cannot begin keeps what was typed: blank would be all', async () => {
      const { status, html } = await olena.submit('/runs/new', {
        kind: 'delivery',
        listener: 'a\u0007b',
      })
      assert.equal(status, 422)
      assert.match(html, /<option value="delivery" selected>/)
      assert.match(html, /name="listener"[^>]*value="[^"]/)
    })

    test('hostile exceptions are text', async () => {
      await failedCall('<img src=x onerror=alert(1)> 4242424242424242')
      for (const path of ['', '/failed']) {
        assert.doesNotMatch((await olena.open(path)).html, /<img|4242424242424242/)
      }
    })

    test('refused callbacks are said by reason, with what to do and what some looked like', async () => {
      assert.match((await olena.open('/refused')).text, /Nothing was refused in 24 h\./)
      await writeCounts(billing, 'callbacks_refused_total', {
        span: 'quarter',
        gateway: 'stripe',
        values: { signature_missing: 7 },
      })
      await writeRefusal(billing.database.db, {
        gateway: 'stripe',
        reason: 'signature_missing',
        name: null,
        network: '203.0.113.0/24',
        bodyBytes: 12,
        contentType: '<b>application/json',
        headerNames: ['content-type'],
        hasSignature: false,
        clockSkewSeconds: -400,
      })
      const { text, html } = await olena.open('/refused?gateway=stripe')
      assert.doesNotMatch(text, /Nothing was refused/)
      assert.match(text, /stripe: signature_missing, 7 times/)
      assert.match(text, /To do:/)
      assert.match(text, /203\.0\.113\.0\/24/)
      assert.match(text, /400 s behind ours/)
      assert.doesNotMatch(html, /<b>application/)
      assert.match((await olena.open('/refused?gateway=paddle')).text, /Nothing was refused/)
      assert.match((await olena.open('/refused?gateway=padle')).text, /There is no gateway padle\./)
      await writeCounts(billing, 'callbacks_total', {
        span: 'quarter',
        gateway: 'paddle',
        values: { unavailable: 3 },
      })
      assert.match((await olena.open('/refused')).text, /paddle: unavailable, 3 times/)
    })
  })
})
