import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { startReceiver, type Receiver } from '../outbound/receiver.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { until } from '../support/until.ts'
import {
  actionsOn,
  assertHarmless,
  consolePages,
  hostile,
  type ConsolePages,
} from './console-pages.ts'

onAnyDatabase((engine) => {
  describe('the pages of events', () => {
    let billing: StatedBilling
    let pages: ConsolePages
    let receiver: Receiver
    before(async () => {
      billing = await openStated(engine, {
        billing: { encryptionKey: randomBytes(32).toString('base64') },
        listen: ({ core }) =>
          core.on(
            'PaymentSucceeded',
            'sendReceipt',
            async () => {
              throw new Error(`the mail server said ${hostile}\n  at line two`)
            },
            { queued: true },
          ),
      })
      pages = consolePages(billing.core)
      receiver = await startReceiver()
    })
    after(async () => {
      await billing.close()
      await receiver[Symbol.asyncDispose]()
    })

    const eventOf = async (paymentId: string) => {
      const [event] = (await billing.core.events.list({ paymentId })).data
      assert.ok(event)
      return event
    }

    test('the filters narrow the list, and a wrong one says what it must be', async () => {
      const [one, other] = [await billing.createPaid(), await billing.createPaid()]
      const ids = [await eventOf(one.id), await eventOf(other.id)]
      const shows = async (query: string) => {
        const { html } = await pages.get(`/events?${query}`)
        return ids.map(({ id }) => html.includes(`/events/${id}"`))
      }
      assert.deepEqual(await shows(''), [true, true])
      assert.deepEqual(await shows('type=PaymentSucceeded'), [true, true])
      assert.deepEqual(await shows('type=PaymentFailed'), [false, false])
      assert.deepEqual(await shows(`payment=${other.id}`), [false, true])
      assert.deepEqual(await shows(`subscription=${newUuid()}`), [false, false])
      const wrong = await pages.get('/events?payment=7c9e')
      assert.equal(wrong.status, 400)
      assert.match(wrong.text, /payment must be a whole id/)
    })

    test('one shows what caused it, what it says, and why a listener failed', async () => {
      const payment = await billing.createPaid({ description: hostile })
      const { id } = await eventOf(payment.id)
      const history = () => billing.core.events.history(id)
      await until(async () => (await history()).failedAttempts.length > 0, { what: 'it failed' })
      const page = await pages.get(`/events/${id}`)
      assertHarmless(page)
      assert.match(page.text, /Caused by a callback of the provider/)
      assert.ok(page.html.includes(`/admin/billing/payments/${payment.id}"`))
      assert.match(page.html, /\/admin\/billing\/calls\/[\w-]{36}"/)
      assert.match(page.text, /sendReceipt/)
      assert.match(page.text, /Attempts that failed/)
      assert.match(page.text, /the mail server said .*at line two/)
      assert.ok(page.html.includes('&quot;type&quot;: &quot;charge&quot;'))
      const [failed] = (await history()).failedAttempts
      assert.equal(failed?.listener, 'sendReceipt')
      assert.equal(failed?.attempt, 1)
      for (const path of [`/events/${newUuid()}`, '/events/none']) {
        assert.equal((await pages.get(path)).status, 404)
      }
    })

    test('it says where it was sent, and is resent to an endpoint, once', async () => {
      const payment = await billing.createPaid()
      const { id } = await eventOf(payment.id)
      await until(async () => (await eventOf(payment.id)).position !== null, { what: 'it is fed' })
      assert.match((await pages.get(`/events/${id}`)).text, /It was sent to no endpoint/)
      const { secret } = await billing.core.endpoints.create({ name: 'shop', url: receiver.url })
      receiver.secret = secret
      const form = await pages.form(`/events/${id}/resend?endpoint=shop`, { endpoint: 'shop' })
      const done = await pages.post(`/events/${id}/resend`, form)
      assert.match(done.location ?? '', /done=event_resent$/)
      const again = await pages.post(`/events/${id}/resend`, form)
      assert.match(again.location ?? '', /done=already$/)
      const isSent = async () => (await billing.core.events.history(id)).attempts.length > 0
      await until(isSent, { what: 'it is sent' })
      const { attempts, forwards } = await billing.core.events.history(id)
      assert.deepEqual(
        attempts.map(({ endpoint, eventId, status }) => ({ endpoint, eventId, status })),
        [{ endpoint: 'shop', eventId: id, status: 204 }],
      )
      assert.deepEqual(
        forwards.map(({ endpoint, cause, position }) => ({ endpoint, cause, position })),
        [{ endpoint: 'shop', cause: 'resend', position: (await eventOf(payment.id)).position }],
      )
      assert.match((await pages.get(`/events/${id}`)).text, /shop 1 It was taken\. 204/)
      assert.deepEqual(await actionsOn(billing.core, id), [
        { operator: 'ops-1', action: 'resendEvent', detail: { endpoint: 'shop' }, outcome: 'done' },
      ])
      const missing = await pages.press(`/events/${id}/resend`, { endpoint: 'nobody' })
      assert.equal(missing.status, 404)
      assert.match(missing.html, /class="fault" role="alert"/)
    })
  })
})
