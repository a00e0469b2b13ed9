import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { utcTime } from '../../src/console/pages/endpoint-actions.ts'
import { sendResultText } from '../../src/console/words/endpoints.ts'
import { refuse, startReceiver, type Receiver } from '../outbound/receiver.ts'
import { idle, newPayment, openBilling, sendFake, type TestBilling } from '../support/billing.ts'
import { capturedLog } from '../support/captured-log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { until } from '../support/until.ts'
import {
  actionsOn,
  assertHarmless,
  consolePages,
  hostile,
  type ConsolePages,
} from './console-pages.ts'

test('a time is read as UTC, and what is no time is not read', () => {
  assert.equal(utcTime('2026-11-20T09:30')?.toISOString(), '2026-11-20T09:30:00.000Z')
  assert.equal(utcTime('2026-11-20T09:30:15')?.toISOString(), '2026-11-20T09:30:15.000Z')
  for (const text of ['', '2026-02-31T09:30', '2026-11-20', '2026-11-20T25:00', 'yesterday']) {
    assert.equal(utcTime(text), undefined, text)
  }
})

test('a result that a newer version has written is shown as it is', () => {
  assert.equal(sendResultText('eaten'), 'eaten')
  assert.equal(sendResultText('toString'), 'toString')
})

const secretPattern = /whsec_[\w+/]{43}=/

onAnyDatabase((engine) => {
  describe('the pages of endpoints', () => {
    let billing: TestBilling
    let pages: ConsolePages
    let viewer: ConsolePages
    let receiver: Receiver
    const { log, lines } = capturedLog()
    before(async () => {
      billing = await openBilling(engine, {
        log,
        billing: { encryptionKey: randomBytes(32).toString('base64') },
      })
      await billing.core.work()
      pages = consolePages(billing.core)
      viewer = consolePages(billing.core, { role: 'viewer' })
      receiver = await startReceiver()
    })
    after(async () => {
      await billing.close()
      await receiver[Symbol.asyncDispose]()
    })

    const endpoints = () => billing.core.endpoints
    const make = async (name: string) => {
      const { endpoint, secret } = await endpoints().create({ name, url: receiver.url })
      receiver.secret = secret
      return endpoint
    }
    const pay = async () => {
      const { id } = await newPayment(billing.core)
      await sendFake(billing.core, id, 'success')
      await idle(billing.core)
      const event = async () => (await billing.core.events.list({ paymentId: id })).data[0]
      await until(async () => typeof (await event())?.position === 'number', { what: 'it is fed' })
      return (await event())?.id ?? ''
    }
    const tried = (name: string, count = 1) =>
      until(async () => (await endpoints().attempts(name)).data.length >= count, {
        what: `${name} was asked`,
      })

    test('without one, the list says what they are for', async () => {
      const { text } = await pages.get('/endpoints')
      assert.match(text, /Events are sent nowhere\. Add an endpoint/)
    })

    test('one is added; its secret is on that page alone, and the path of its URL not in the audit', async () => {
      const form = await pages.form('/endpoints/_new', {
        name: 'new',
        url: `${receiver.url}/s3cr3t-path`,
        type: ['PaymentSucceeded', 'PaymentRefunded', 'NoSuchType'],
      })
      const made = await pages.post('/endpoints/_new', form)
      assert.equal(made.status, 200)
      assert.equal(made.headers.get('cache-control'), 'no-store')
      const [secret = ''] = secretPattern.exec(made.html) ?? []
      assert.notEqual(secret, '')
      const again = await pages.post('/endpoints/_new', form)
      assert.match(again.location ?? '', /done=already$/)
      const shown = await pages.get('/endpoints/new')
      assert.match(shown.text, /PaymentSucceeded, PaymentRefunded/)
      const audit = await pages.get('/audit')
      for (const { html } of [again, shown, audit]) assert.ok(!html.includes(secret.slice(6, 30)))
      assert.ok(!audit.html.includes('s3cr3t-path'))
      assert.ok(!JSON.stringify(lines).includes(secret.slice(6, 30)))
      const [action] = await actionsOn(billing.core, 'new')
      const types = ['PaymentSucceeded', 'PaymentRefunded']
      const origin = new URL(receiver.url).origin
      assert.deepEqual(action?.detail, { origin, types })
      assert.equal(action?.outcome, 'done')
    })

    test('what was typed is still there where it cannot be added', async () => {
      const typed = { name: 'Not "this"', url: receiver.url, type: 'PaymentFailed' }
      const refused = await pages.press('/endpoints/_new', typed)
      assert.equal(refused.status, 422)
      assert.match(refused.text, /name must be 1 to 64 small letters/)
      assert.ok(refused.html.includes('value="Not &quot;this&quot;"'))
      assert.match(refused.html, /value="PaymentFailed" checked/)
    })

    test('a new secret is shown once', async () => {
      await make('rotated')
      const page = await pages.press('/endpoints/rotated/rotate-secret')
      const [secret = ''] = secretPattern.exec(page.html) ?? []
      assert.notEqual(secret, '')
      assert.notEqual(secret, receiver.secret)
      assert.ok(!(await pages.get('/endpoints/rotated')).html.includes(secret))
      const [action] = await actionsOn(billing.core, 'rotated')
      assert.deepEqual(
        { ...action },
        { operator: 'ops-1', action: 'rotateEndpointSecret', detail: {}, outcome: 'done' },
      )
    })

    test('a test says what came back', async () => {
      await make('tested')
      const taken = await pages.press('/endpoints/tested/test')
      assert.match(taken.text, /It was taken\. It answered 204\./)
      receiver.answer = (_received, response) =>
        response.writeHead(503, { 'content-type': 'text/plain' }).end(hostile)
      const refused = await pages.press('/endpoints/tested/test')
      assert.match(refused.text, /It answered 503\./)
      assertHarmless(refused)
      const [action] = await actionsOn(billing.core, 'tested')
      assert.match(action?.outcome ?? '', /503$/)
    })

    test('what it answered and the path of its URL are for operators', async () => {
      receiver.answer = (_received, response) =>
        response.writeHead(400, { 'content-type': 'text/plain' }).end(`${hostile}\nline two`)
      await make('failing')
      const eventId = await pay()
      await tried('failing')
      const page = await pages.get('/endpoints/failing')
      assertHarmless(page)
      assert.ok(page.html.includes(receiver.url))
      assert.match(page.text, /It refused\. Its own log says why\. 400/)
      assert.ok(page.html.includes('line two'))
      assert.ok(page.html.includes(`/events/${eventId}"`))
      const list = await pages.get('/endpoints')
      assert.match(list.text, /in a row since .*It refused\./)
      for (const path of ['/endpoints/failing', '/endpoints', `/events/${eventId}`]) {
        const { html, status } = await viewer.get(path)
        assert.equal(status, 200)
        assert.ok(!html.includes('/hooks'), path)
        assert.ok(!html.includes('line two'), path)
        assert.ok(!html.includes('class="button"'), path)
      }
    })

    test('a failed event is listed with what to do, by its state', async () => {
      const { status, text } = await pages.get('/endpoints/failing/forwards?state=pending')
      assert.equal(status, 200)
      assert.match(text, /It is sent again by itself\./)
      assert.match(text, /Resend/)
      const failed = await pages.get('/endpoints/failing/forwards?state=failed')
      assert.match(failed.text, /There is none\./)
      assert.equal((await pages.get('/endpoints/nobody/forwards')).status, 404)
    })

    test('it is disabled and enabled, where it was or at the end', async () => {
      receiver.answer = refuse(500)
      await make('off')
      await pages.press('/endpoints/off/disable')
      assert.equal((await endpoints().get('off'))?.enabled, false)
      assert.match((await pages.get('/endpoints/off')).text, /Somebody disabled it\./)
      await pay()
      const before = (await endpoints().get('off'))?.position ?? 0
      await pages.press('/endpoints/off/enable', { from: 'end' })
      const enabled = await endpoints().get('off')
      assert.equal(enabled?.enabled, true)
      assert.ok((enabled?.position ?? 0) > before)
      const [action] = await actionsOn(billing.core, 'off')
      assert.deepEqual(action?.detail, { from: 'end' })
    })

    test('a replay sends again from a time, and never leaves out what it has not had', async () => {
      await make('again')
      await pages.press('/endpoints/again/disable')
      await pay()
      const { position = 0, behind = 0 } = (await endpoints().get('again')) ?? {}
      assert.ok(behind > 0)
      const wrong = await pages.press('/endpoints/again/replay', { since: 'soon' })
      assert.equal(wrong.status, 400)
      assert.match(wrong.text, /since must be a time/)
      await pages.press('/endpoints/again/replay', { since: '2099-01-01T00:00' })
      await endpoints().disable('again')
      assert.equal((await endpoints().get('again'))?.position, position)
      await pages.press('/endpoints/again/replay', { since: '2001-01-01T00:00' })
      await endpoints().disable('again')
      assert.ok(((await endpoints().get('again'))?.position ?? 0) < position)
    })

    test('it is removed; a viewer may not, and nobody twice', async () => {
      await make('gone')
      const form = await pages.form('/endpoints/gone/remove')
      assert.equal((await viewer.post('/endpoints/gone/remove', form)).status, 403)
      const done = await pages.post('/endpoints/gone/remove', form)
      assert.equal(done.location, '/admin/billing/endpoints?done=endpoint_removed')
      assert.equal((await pages.get('/endpoints/gone')).status, 404)
      assert.equal((await pages.get('/endpoints/gone/remove')).status, 404)
      const again = await pages.post('/endpoints/gone/remove', form)
      assert.match(again.location ?? '', /done=already$/)
    })
  })
})
