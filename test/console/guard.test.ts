import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { exchange, origin } from '../http/service.ts'
import { newPayment, until, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openBrowser, type Browser, type Sending } from './browser.ts'
import {
  consolePath,
  listenTo,
  openWithOperators,
  serveConsole,
  signIn,
  signInPath,
  type ServedConsole,
} from './console-service.ts'

const ours = 'http://localhost:3000'
const urlencoded = 'application/x-www-form-urlencoded'
const sessionCookie = 'quittance-console-3000'

onAnyDatabase((engine) => {
  describe('a form of the console', () => {
    let billing: TestBilling
    let served: ServedConsole
    let operator: Browser
    let other: Browser
    let viewer: Browser
    before(async () => {
      const opened = await openWithOperators(engine)
      ;({ billing } = opened)
      served = serveConsole(billing)
      operator = await signIn(served.browse(), opened.operator.token)
      other = await signIn(served.browse(), opened.operator.token)
      viewer = await signIn(served.browse(), opened.viewer.token)
    })
    after(() => billing.close())

    const cancelPath = (id: string) => `${consolePath}/payments/${id}/cancel`
    const recordedOf = async (subject: string) =>
      (await billing.core.operators.actions({ subject })).data
    const statusOf = async (id: string) => (await billing.core.payments.get(id))?.status

    /** Everything right but what is changed; the payment, and what was answered. */
    async function sent(change: Change) {
      const { id: payment } = await newPayment(billing.core)
      const path = cancelPath(payment)
      const form = await operator.formAt(path)
      for (const [name, value] of Object.entries(change.form ?? {})) {
        if (value === undefined) form.delete(name)
        else form.set(name, value)
      }
      const browser = change.by?.() ?? operator
      return { payment, path, answer: await browser.press(form, path, change.sending ?? {}) }
    }
    interface Change {
      readonly sending?: Sending
      readonly form?: Readonly<Record<string, string | undefined>>
      readonly by?: () => Browser
    }
    const headers = (changed: Record<string, string | undefined>): Change => ({
      sending: { headers: changed },
    })

    const wrong: Readonly<Record<string, readonly [number, Change | (() => Promise<Change>)]>> = {
      'a host that is not ours': [421, headers({ host: 'evil.example' })],
      'a host that begins like ours': [421, headers({ host: 'localhost.evil.example:3000' })],
      'a host that ends like ours': [421, headers({ host: 'evil-localhost' })],
      'a name that leads to this machine': [421, headers({ host: '127.0.0.1.nip.example:3000' })],
      'no type': [415, headers({ 'content-type': undefined })],
      JSON: [415, headers({ 'content-type': 'application/json' })],
      'plain text, which any site may send': [415, headers({ 'content-type': 'text/plain' })],
      'a form of files': [415, headers({ 'content-type': 'multipart/form-data; boundary=x' })],
      'a page of another site': [403, headers({ 'sec-fetch-site': 'cross-site' })],
      'a page of a subdomain': [403, headers({ 'sec-fetch-site': 'same-site' })],
      'nobody’s page': [403, headers({ 'sec-fetch-site': 'none' })],
      'another site that names our origin': [
        403,
        headers({ 'sec-fetch-site': 'cross-site', origin: ours }),
      ],
      'neither site nor origin': [403, headers({ 'sec-fetch-site': undefined })],
      'the origin null': [403, headers({ 'sec-fetch-site': undefined, origin: 'null' })],
      'another origin': [
        403,
        headers({ 'sec-fetch-site': undefined, origin: 'http://evil.example' }),
      ],
      'our origin at another port': [
        403,
        headers({ 'sec-fetch-site': undefined, origin: 'http://localhost:3001' }),
      ],
      'our host by another scheme': [
        403,
        headers({ 'sec-fetch-site': undefined, origin: 'ftp://localhost:3000' }),
      ],
      'no form token': [403, { form: { form_token: undefined } }],
      'an empty form token': [403, { form: { form_token: '' } }],
      'a wrong form token': [403, { form: { form_token: 'A'.repeat(43) } }],
      'the form token of another session of the same operator': [
        403,
        async () => ({
          form: {
            form_token: (await other.formAt(cancelPath((await newPayment(billing.core)).id))).get(
              'form_token',
            ) as string,
          },
        }),
      ],
      'no cookie': [403, headers({ cookie: undefined })],
      'a cookie of no session': [403, headers({ cookie: `${sessionCookie}=${'A'.repeat(43)}` })],
      'a cookie that is no key': [403, headers({ cookie: `${sessionCookie}=__proto__` })],
      'a session in the cookie of the sign-in page': [
        403,
        async () =>
          headers({
            cookie: `quittance-console-sign-in-3000=${operator.cookies.get(sessionCookie)}`,
          }),
      ],
      'the session of another port': [
        403,
        async () =>
          headers({ cookie: `quittance-console-3001=${operator.cookies.get(sessionCookie)}` }),
      ],
      'a session of somebody else': [403, { by: () => other }],
      'no id': [403, { form: { id: undefined } }],
      'an id that is none': [403, { form: { id: "1' or '1'='1" } }],
      'more than a form can be': [413, { form: { back: 'x'.repeat(70_000) } }],
      'a body that never ends': [413, async () => ({ sending: { body: endless() } })],
      'a body that breaks off': [400, async () => ({ sending: { body: broken() } })],
      'a PUT': [405, { sending: { method: 'PUT' } }],
      'a DELETE': [405, { sending: { method: 'DELETE' } }],
      'an OPTIONS': [405, { sending: { method: 'OPTIONS' } }],
    }
    for (const [what, [status, change]] of Object.entries(wrong)) {
      test(`with ${what} is refused, does nothing, and is not recorded`, async () => {
        const { answer, payment } = await sent(
          typeof change === 'function' ? await change() : change,
        )
        assert.equal(answer.status, status, answer.text)
        assert.equal(await statusOf(payment), 'pending')
        assert.deepEqual(await recordedOf(payment), [])
      })
    }

    test('of a viewer is refused, although all is right with it', async () => {
      const { id } = await newPayment(billing.core)
      const page = `${consolePath}/payments/${id}`
      const own = await viewer.formAt(page, `${consolePath}/sign-out`)
      own.set('id', newUuid())
      const answer = await viewer.press(own, cancelPath(id))
      assert.equal(answer.status, 403)
      assert.match(answer.text, /taras is a viewer/)
      assert.equal((await viewer.open(cancelPath(id))).status, 403)
      assert.equal(await statusOf(id), 'pending')
      assert.deepEqual(await recordedOf(id), [])
    })

    test('with the id of something that was done does nothing', async () => {
      const { payment: first, path } = await sent({})
      const id = (await recordedOf(first))[0]?.id ?? ''
      const { answer, payment } = await sent({ form: { id } })
      assert.equal(answer.status, 303)
      assert.equal(answer.location, `${consolePath}/payments/${payment}?done=already`)
      assert.equal(await statusOf(payment), 'pending')
      assert.notEqual(path, cancelPath(payment))
    })

    for (const [what, change] of [
      ['all right', {}],
      ['the origin alone, over plain HTTP', headers({ 'sec-fetch-site': undefined, origin: ours })],
      ['a type that says its charset', headers({ 'content-type': `${urlencoded}; charset=utf-8` })],
    ] as const) {
      test(`with ${what} is done, and leads back`, async () => {
        const { answer, payment } = await sent(change)
        assert.equal(answer.status, 303, answer.text)
        assert.equal(answer.location, `${consolePath}/payments/${payment}?done=canceled`)
        assert.equal(await statusOf(payment), 'canceled')
        const [action] = await recordedOf(payment)
        assert.equal(action?.operator, 'olena')
        assert.equal(action?.outcome, 'done')
      })
    }
  })

  describe('the console within the service', () => {
    let billing: TestBilling
    let served: ServedConsole
    let token: string
    before(async () => {
      const opened = await openWithOperators(engine, { webhook: { path: '/billing/{gateway}' } })
      ;({ billing } = opened)
      ;({ token } = opened.operator)
      served = serveConsole(billing)
    })
    after(() => billing.close())

    test('every path of it answers 421 by another host, and none shows anything', async () => {
      const stranger = served.browse()
      const { text } = await stranger.open(signInPath)
      const [style = ''] = /\/billing\/console\/assets\/[^"]+/.exec(text) ?? []
      assert.equal((await stranger.open(style)).status, 200)
      const paths = [
        '',
        '/payments',
        '/nothing',
        '/sign-in',
        '/sign-in/once?key=x',
        '/sign-out',
        '/',
      ]
      for (const path of [style, ...paths.map((one) => consolePath + one)]) {
        for (const method of ['GET', 'POST']) {
          const answer = await stranger.open(path, { method, headers: { host: 'evil.example' } })
          assert.equal(answer.status, 421, `${method} ${path}`)
          assert.equal(answer.headers.get('set-cookie'), null)
        }
      }
    })

    test('a stranger is led to the sign-in from every page, and learns nothing of what exists', async () => {
      const { id } = await newPayment(billing.core)
      const stranger = served.browse()
      for (const path of [`/payments/${id}`, `/payments/${newUuid()}`, '/nothing', '/audit']) {
        const answer = await stranger.open(consolePath + path)
        assert.equal(answer.status, 303)
        const next = encodeURIComponent(consolePath + path)
        assert.equal(answer.location, `${signInPath}?next=${next}`)
      }
    })

    test('from a link on another site the page asks once more, and ends no session', async () => {
      const operator = await signIn(served.browse(), token)
      const session = new Map(operator.cookies)
      for (const path of ['/payments?status=paid', '/sign-in?next=%2Fbilling%2Fconsole%2Faudit']) {
        for (const site of ['cross-site', 'same-site']) {
          const bare = { cookie: undefined, 'sec-fetch-site': site }
          const answer = await operator.open(consolePath + path, { headers: bare })
          assert.equal(answer.headers.get('refresh'), `0; url=${consolePath}${path}`)
          assert.equal(answer.headers.get('set-cookie'), null)
        }
      }
      // Over plain HTTP nothing says where it comes from.
      await operator.open(signInPath, {
        headers: { cookie: undefined, 'sec-fetch-site': undefined },
      })
      for (const [name, value] of session) {
        if (!name.includes('sign-in')) assert.equal(operator.cookies.get(name), value)
      }
      assert.equal((await operator.open(`${consolePath}/payments`)).status, 200)
    })

    test('what a hostile address says leads nowhere else', async () => {
      const bare = { 'sec-fetch-site': 'cross-site' }
      for (const path of [
        '/billing/console/%2e%2e/%2e%2e//evil.example/',
        '/billing/console/x?a=1;url=//evil.example',
        '/billing/console//evil.example',
        '/billing/console/"><script>alert(1)</script>',
      ]) {
        const answer = await served.browse().open(path, { headers: bare })
        const refresh = answer.headers.get('refresh')
        if (refresh !== null) assert.match(refresh, /^0; url=\/billing\/console[/?]/)
        assert.ok(!answer.text.includes('<script>'))
      }
      const slashes = await served.browse().open('/billing/console//evil.example//')
      assert.equal(slashes.location, '/billing/console//evil.example')
    })

    test('every page forbids frames, scripts of others, caches and guesses of its type', async () => {
      const stranger = served.browse()
      const operator = await signIn(served.browse(), token)
      const answers = [
        await stranger.open(signInPath),
        await stranger.open(consolePath, { headers: { host: 'evil.example' } }),
        await operator.open(`${consolePath}/payments`),
        await operator.open(`${consolePath}/nothing`),
      ]
      for (const { headers } of answers) {
        const policy = headers.get('content-security-policy') ?? ''
        assert.match(policy, /default-src 'none'.*form-action 'self'.*frame-ancestors 'none'/)
        assert.doesNotMatch(policy, /unsafe/)
        assert.equal(headers.get('cache-control'), 'no-store')
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.equal(headers.get('referrer-policy'), 'same-origin')
      }
    })

    test('the service keeps its other routes, and the console its own beside a short webhook path', async (t) => {
      const server = await listenTo(billing, served)
      t.after(() => server.close(0))
      const { port } = new URL(server.url)
      const ask = async (line: string, more = '') => {
        const head = `${line} HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n${more}\r\n`
        return (await exchange(Number(port), head, { answers: 1 })).answers[0]
      }
      const location = async (path: string) => {
        const answer = await ask(`GET ${path}`)
        return [answer?.status, answer?.headers.get('location')]
      }
      assert.deepEqual(await location('/billing/console'), [
        303,
        '/billing/console/sign-in?next=%2Fbilling%2Fconsole',
      ])
      assert.deepEqual(await location('/billing/console/'), [303, '/billing/console'])
      assert.deepEqual(await location('/billing/%63onsole/audit'), [
        303,
        // Not the way it was spelt: that leads nowhere else than ours by nobody's reading.
        '/billing/console/sign-in?next=%2Fbilling%2Fconsole',
      ])
      assert.equal((await ask('GET /billing/console/../../healthz'))?.status, 200)
      assert.equal((await ask('GET //billing/console'))?.status, 404)
      // That may be a gateway's.
      assert.equal((await ask('GET /billing/consoles'))?.status, 405)
      assert.equal((await ask('TRACE /billing/console/audit'))?.status, 405)
      assert.equal((await ask('TRACE /billing/console/nothing'))?.status, 405)
      assert.equal((await ask('HEAD /billing/console/sign-in'))?.status, 200)
      const body = JSON.stringify({ payment_id: newUuid(), result: 'success' })
      const callback = await fetch(`${server.url}/billing/fake`, { method: 'POST', body })
      assert.equal(callback.status, 200)
      assert.doesNotMatch(served.logged.join(''), /"level":50/)
    })

    test('strangers who never finish their forms take no place of anybody', async (t) => {
      const server = await listenTo(billing, served)
      t.after(() => server.close(0))
      const { port } = new URL(server.url)
      let begun = 0
      const begins = (message: unknown) => {
        const { request } = message as { readonly request: IncomingMessage }
        if (request.socket.localPort === Number(port)) begun += 1
      }
      subscribe('http.server.request.start', begins)
      t.after(() => unsubscribe('http.server.request.start', begins))
      const form = `content-type: ${urlencoded}\r\nsec-fetch-site: same-origin\r\n`
      const sockets = Array.from({ length: 12 }, (_, index) => {
        const socket = connect(Number(port), '127.0.0.1')
        const path = index % 2 === 0 ? '/sign-in' : `/payments/${newUuid()}/cancel`
        socket.on('error', () => {})
        socket.write(
          `POST ${consolePath}${path} HTTP/1.1\r\nhost: localhost:${port}\r\n${form}content-length: 500\r\n\r\na=`,
        )
        return socket
      })
      await until(() => begun === sockets.length, { what: 'all forms have begun' })
      const operator = await signIn(openBrowser(served.app.fetch, origin), token)
      assert.equal((await operator.open(`${consolePath}/payments`)).status, 200)
      for (const socket of sockets) socket.destroy()
    })
  })
})

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: (controller) => controller.enqueue(new Uint8Array(16_384).fill(0x61)),
  })
}

function broken(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) })
}
