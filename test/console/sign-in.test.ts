import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { coreOf } from '../../src/billing/create-core.ts'
import { createRuntime } from '../../src/billing/runtime.ts'
import { origin } from '../http/service.ts'
import { newPayment, unhurried, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import type { Answer, Browser } from './browser.ts'
import {
  consolePath,
  ofSettings,
  openWithOperators,
  serveConsole,
  shortToken,
  signIn,
  signInPath,
} from './console-service.ts'

const payments = `${consolePath}/payments`
const session = 'quittance-console-3000'
const long = 'a-token-of-the-settings-that-nobody-guesses'

/** A connection from there, as Node has it. */
function from(remoteAddress: string, headers: Record<string, string> = {}) {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress })
  const incoming = new IncomingMessage(socket)
  Object.assign(incoming.headers, headers)
  return { incoming }
}

async function tryToken(browser: Browser, token: string, address = '192.0.2.1'): Promise<Answer> {
  const form = await browser.formAt(signInPath)
  form.set('token', token)
  return browser.press(form, signInPath, { env: from(address) })
}

const isSignedIn = async (browser: Browser) => (await browser.open(payments)).status === 200

onAnyDatabase((engine) => {
  describe('sign-in to the console', () => {
    let billing: TestBilling
    let operator: string
    let viewer: string
    before(async () => {
      const opened = await openWithOperators(engine)
      ;({ billing } = opened)
      operator = opened.operator.token
      viewer = opened.viewer.token
    })
    after(() => billing.close())
    beforeEach(() => sql`delete from billing.operator_sessions`.execute(billing.database.db))

    const sessionsIn = async () => {
      const { rows } = await sql<{ operator: string }>`
        select operator from billing.operator_sessions`.execute(billing.database.db)
      return rows.map((row) => row.operator).toSorted()
    }
    const signInsOf = async (name: string) =>
      (await billing.core.operators.actions({ operator: name, limit: 100 })).data.filter(
        ({ action }) => action === 'signIn',
      )

    test('each kind of token signs in, and is recorded by name, never by itself', async () => {
      const { browse } = serveConsole(billing)
      for (const [name, token] of [
        ['olena', operator],
        ['taras', ` ${viewer}\n`],
        ['api', shortToken],
      ] as const) {
        const answer = await tryToken(browse(), token)
        assert.equal(answer.status, 303, answer.text)
        const [signed] = await signInsOf(name)
        assert.deepEqual(
          [signed?.via, signed?.detail, signed?.outcome],
          ['console', { by: 'token' }, 'done'],
        )
      }
      assert.deepEqual(await sessionsIn(), ['api', 'olena', 'taras'])
    })

    test('all tokens that are refused are answered alike, and sign nobody in', async () => {
      const { browse } = serveConsole(billing)
      const { operators } = billing.core
      const gone = await operators.add({ name: 'gone', role: 'operator' })
      await operators.remove('gone')
      const late = await operators.add({ name: 'late', role: 'operator' })
      await sql`update billing.operators set expires_at = statement_timestamp() - interval '1 s'
        where name = 'late'`.execute(billing.database.db)
      const browser = browse()
      const said = new Set<string>()
      const tokens = ['', 'x', `${operator.slice(0, -1)}!`, gone.token, late.token]
      for (const [index, token] of tokens.entries()) {
        const answer = await tryToken(browser, token, `192.0.2.${index}`)
        assert.equal(answer.status, 403)
        said.add(answer.text)
      }
      assert.equal(said.size, 1)
      assert.deepEqual(await sessionsIn(), [])
      await operators.remove('late')
    })

    test('a short token can be tried five times a minute, also when the sixth is right', async () => {
      const { browse, logged } = serveConsole(billing)
      const browser = browse()
      for (let index = 0; index < 5; index += 1) {
        assert.equal((await tryToken(browser, `guess-${index}`)).status, 403)
      }
      // The first one at once, and the others within a minute: nobody fills the log.
      const lines = logged.filter((line) => line.includes('the console refused a token to sign in'))
      assert.equal(lines.length, 1)
      assert.match(lines[0] ?? '', /"refused":1,"addresses":\{"192\.0\.2\.1":1\}/)
      assert.doesNotMatch(logged.join(''), /guess/)
      assert.equal((await tryToken(browser, shortToken)).status, 429)
      assert.deepEqual(await sessionsIn(), [])
      assert.equal((await tryToken(browser, shortToken, '192.0.2.2')).status, 303)
    })

    test('all senders together try thirty, and still keep nobody out who has a long token', async () => {
      const { browse } = serveConsole(billing, { settings: [ofSettings(long)] })
      const browser = browse()
      for (let index = 0; index < 30; index += 1) {
        assert.equal((await tryToken(browser, 'guess', `192.0.2.${index}`)).status, 403)
      }
      assert.equal((await tryToken(browser, 'guess', '198.51.100.1')).status, 429)
      // Wrong ones that are long count as well.
      assert.equal((await tryToken(browser, 'x'.repeat(43), '198.51.100.2')).status, 429)
      assert.equal((await tryToken(browser, `qop_${'x'.repeat(43)}`, '198.51.100.3')).status, 429)
      for (const token of [operator, viewer, long]) {
        for (let index = 0; index < 7; index += 1) {
          assert.equal((await tryToken(browse(), token, '192.0.2.0')).status, 303)
        }
      }
    })

    test('the session is a new one, whatever the browser had, and ends what it had', async () => {
      const { browse } = serveConsole(billing)
      const browser = browse()
      const planted = 'A'.repeat(43)
      browser.cookies.set(session, planted)
      await signIn(browser, viewer)
      const first = browser.cookies.get(session) ?? ''
      assert.notEqual(first, planted)
      const form = await browse().formAt(signInPath)
      form.set('token', operator)
      // Once more in the same browser, which has a form of before: not its own, so nothing happens.
      assert.equal((await browser.press(form, signInPath)).status, 403)
      browser.cookies.delete(session)
      const again = await browser.formAt(signInPath)
      again.set('token', operator)
      browser.cookies.set(session, first)
      assert.equal((await browser.press(again, signInPath)).status, 303)
      assert.deepEqual(await sessionsIn(), ['olena'])
      const old = browse()
      for (const key of [planted, first]) {
        old.cookies.set(session, key)
        assert.equal(await isSignedIn(old), false)
      }
    })

    test('no other site can sign a browser in, and no form without its cookie', async () => {
      const { browse } = serveConsole(billing)
      const browser = browse()
      const form = await browser.formAt(signInPath)
      form.set('token', operator)
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': undefined, origin: 'null' },
        { cookie: undefined },
        { 'content-type': 'text/plain' },
      ]) {
        const answer = await browser.press(form, signInPath, { headers })
        assert.ok(answer.status === 403 || answer.status === 415, answer.text)
      }
      assert.deepEqual(await sessionsIn(), [])
    })

    test('it leads to the page that was wanted, also after a wrong try, and to no other site', async () => {
      const { browse } = serveConsole(billing, { settings: [ofSettings(long)] })
      const wanted: Readonly<Record<string, string>> = {
        '/billing/console/payments?status=paid&q=a%26b':
          '/billing/console/payments?status=paid&q=a%26b',
        '/billing/console/payments#there': '/billing/console/payments',
        'http://localhost:3000/billing/console/audit': '/billing/console/audit',
        '/billing/console/../console/audit': '/billing/console/audit',
        '': consolePath,
        '/': consolePath,
        '/billing/consoles': consolePath,
        '/billing/console/../api': consolePath,
        '/billing/console/%2e%2e/%2e%2e//evil.example': consolePath,
        '//evil.example/billing/console': consolePath,
        '/\\evil.example/billing/console': consolePath,
        '\\\\evil.example/billing/console': consolePath,
        '\t//evil.example/billing/console': consolePath,
        '/\t/evil.example/billing/console': consolePath,
        '/\n/evil.example/billing/console': consolePath,
        '／／evil.example/billing/console': consolePath,
        'http:evil.example/billing/console': consolePath,
        'https://localhost:3000@evil.example/billing/console': consolePath,
        'javascript:alert(1)//billing/console': consolePath,
        'data:text/html,/billing/console': consolePath,
        'http://[': consolePath,
        '/billing/console/sign-in?next=x': consolePath,
        '/billing/console/sign-in/once?key=x': consolePath,
        '/billing/console/sign-out': consolePath,
      }
      for (const [next, location] of Object.entries(wanted)) {
        const browser = browse()
        const page = `${signInPath}?next=${encodeURIComponent(next)}`
        const form = await browser.formAt(page, signInPath)
        form.set('token', 'wrong-but-so-long-that-nobody-limits-it')
        form.set('next', next)
        const again = await browser.press(form, signInPath, { env: from('192.0.2.1') })
        assert.ok(again.status === 403 || again.status === 429)
        assert.ok(again.text.includes(`value="${location.replaceAll('&', '&amp;')}"`), again.text)
        form.set('token', long)
        const answer = await browser.press(form, signInPath)
        assert.equal(answer.location, location, next)
        // Who is signed in is led there at once.
        assert.equal((await browser.open(page)).location, location, next)
      }
    })

    test('the cookies are of this console alone, and over TLS under a name that nobody can set', async () => {
      const { browse } = serveConsole(billing)
      const cookiesAt = async (at: string, headers: Record<string, string> = {}) => {
        const { headers: said } = await browse(at).open(signInPath, { headers })
        return said.getSetCookie().map((cookie) => cookie.replace(/=[\w-]{43};/, '=KEY;'))
      }
      const plain = (port: number) => [
        `quittance-console-sign-in-${port}=KEY; Path=/billing/console; HttpOnly; SameSite=Strict`,
      ]
      const safe = ['__Host-quittance-sign-in=KEY; Path=/; HttpOnly; Secure; SameSite=Strict']
      assert.deepEqual(await cookiesAt('http://localhost:3000'), plain(3000))
      assert.deepEqual(await cookiesAt('http://127.0.0.1:4000'), plain(4000))
      // The public URL is https: a proxy speaks plain HTTP to us.
      assert.deepEqual(await cookiesAt('http://pay.example.test'), safe)
      assert.deepEqual(await cookiesAt('http://admin.example.test'), plain(80))
      const proxied = { 'x-forwarded-proto': 'http, https' }
      assert.deepEqual(await cookiesAt('http://admin.example.test', proxied), safe)
      assert.deepEqual(await cookiesAt('https://admin.example.test'), safe)
      const browser = await signIn(browse('http://pay.example.test'), operator)
      assert.equal((await browser.open(payments)).status, 200)
      assert.deepEqual([...browser.cookies.keys()].toSorted(), [
        '__Host-quittance',
        '__Host-quittance-sign-in',
      ])
    })

    const ends: Readonly<Record<string, (token: string) => Promise<unknown>>> = {
      'an hour without use': () =>
        sql`update billing.operator_sessions set used_at = used_at - interval '61 min'`.execute(
          billing.database.db,
        ),
      'twelve hours': () =>
        sql`update billing.operator_sessions set ends_at = ends_at - interval '12 h'`.execute(
          billing.database.db,
        ),
      'its operator': () => billing.core.operators.remove('briefly'),
      'the token of its operator': () =>
        sql`update billing.operators set expires_at = statement_timestamp() - interval '1 s'
          where name = 'briefly'`.execute(billing.database.db),
      'a sign-out everywhere': () => billing.core.operators.signOut('briefly'),
    }
    for (const [what, end] of Object.entries(ends)) {
      test(`a session ends with ${what}`, async () => {
        const { operators } = billing.core
        await operators.remove('briefly').catch(() => undefined)
        const { token } = await operators.add({ name: 'briefly', role: 'operator' })
        const browser = await signIn(serveConsole(billing).browse(), token)
        assert.equal(await isSignedIn(browser), true)
        await end(token)
        assert.equal(await isSignedIn(browser), false)
        const { id } = await newPayment(billing.core)
        const form = new URLSearchParams({ form_token: 'x', id })
        const answer = await browser.press(form, `${payments}/${id}/cancel`)
        assert.equal(answer.status, 403)
      })
    }

    test('a session that a token of the settings began ends once another token is set', async () => {
      const browser = await signIn(serveConsole(billing).browse(), shortToken)
      const restarted = serveConsole(billing, { settings: [ofSettings('another')] }).browse()
      restarted.cookies.set(session, browser.cookies.get(session) ?? '')
      assert.equal(await isSignedIn(restarted), false)
      assert.equal(await isSignedIn(browser), true)
    })

    test('an operator who became a viewer acts no longer, in a session of before', async () => {
      const { operators } = billing.core
      const { token } = await operators.add({ name: 'halyna', role: 'operator' })
      const browser = await signIn(serveConsole(billing).browse(), token)
      const { id } = await newPayment(billing.core)
      const form = await browser.formAt(`${payments}/${id}/cancel`)
      await sql`update billing.operators set role = 'viewer' where name = 'halyna'`.execute(
        billing.database.db,
      )
      assert.equal((await browser.press(form, `${payments}/${id}/cancel`)).status, 403)
      assert.equal((await billing.core.payments.get(id))?.status, 'pending')
    })

    test('who signs out is out, in every tab; another site cannot do it', async () => {
      const { browse } = serveConsole(billing)
      const browser = await signIn(browse(), operator)
      const copy = browse()
      copy.cookies.set(session, browser.cookies.get(session) ?? '')
      const out = `${consolePath}/sign-out`
      const form = await browser.formAt(payments, out)
      const foreign = await browser.press(form, out, { headers: { 'sec-fetch-site': 'same-site' } })
      assert.equal(foreign.status, 403)
      assert.equal((await browser.press(new URLSearchParams(), out)).status, 403)
      assert.equal((await browser.open(out)).status, 405)
      assert.equal(await isSignedIn(copy), true)
      const answer = await browser.press(form, out)
      assert.equal(answer.location, `${signInPath}?done=signed_out`)
      assert.equal(browser.cookies.has(session), false)
      assert.equal(await isSignedIn(copy), false)
    })

    test('the link signs in once, also if it is opened twice at once, in two processes', async () => {
      const linkSecret = 'shared-by-all-processes-of-a-run'
      const consoles = [1, 2].map(() => serveConsole(billing, { linkSecret }))
      const key = consoles[0]?.link.make() ?? ''
      const path = `${signInPath}/once?key=${key}`
      const browsers = [...consoles, ...consoles].map(({ browse }) => browse())
      const env = from('127.0.0.1')
      const head = await browsers[0]?.open(path, { method: 'HEAD', env })
      assert.equal(head?.status, 405)
      const answers = await Promise.all(browsers.map((browser) => browser.open(path, { env })))
      assert.deepEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [303, 403, 403, 403],
      )
      const right = browsers[answers.findIndex(({ status }) => status === 303)]
      assert.ok(right !== undefined && (await isSignedIn(right)))
      assert.deepEqual(await sessionsIn(), ['api'])
      const [signed] = await signInsOf('api')
      assert.deepEqual(signed?.detail, { by: 'link' })
      assert.equal((await browsers[0]?.open(path, { env }))?.status, 403)
    })

    test('the link is for ten minutes, for this machine, and for whoever has all of it', async () => {
      let now = new Date('2026-11-22T10:00:00Z')
      const { browse, link } = serveConsole(billing, { now: () => now })
      const key = link.make()
      const open = (sent: string, env: unknown = from('127.0.0.1'), at?: string) =>
        browse(at).open(`${signInPath}/once?key=${encodeURIComponent(sent)}`, { env })
      const [id, end, signature] = key.split('.')
      for (const sent of [
        '',
        'x',
        '..',
        `${id}.${Number(end) + 600_000}.${signature}`,
        `${id?.replace(/.$/, (last) => (last === '0' ? '1' : '0'))}.${end}.${signature}`,
        `${id}.${end}.`,
        serveConsole(billing).link.make(),
      ]) {
        assert.equal((await open(sent)).status, 403, sent)
      }
      for (const [what, env, at] of [
        ['another machine', from('192.0.2.7')],
        ['another machine, mapped', from('::ffff:192.0.2.7')],
        ['a runtime that does not say', {}],
        ['a proxy here', from('127.0.0.1', { 'x-forwarded-for': '192.0.2.7' })],
        ['a proxy here that says it well', from('::1', { forwarded: 'for=192.0.2.7' })],
        ['a proxy here that says little', from('127.0.0.1'), 'http://pay.example.test'],
      ] as const) {
        assert.equal((await open(key, env, at)).status, 403, what)
      }
      now = new Date('2026-11-22T10:10:00Z')
      assert.equal((await open(key)).status, 403)
      now = new Date('2026-11-22T10:09:59Z')
      assert.equal((await open(key, from('::ffff:127.0.0.1'))).status, 303)
    })
  })
})

onPostgres((engine) => {
  test('a sign-out in one process ends the session in another', async (t) => {
    const { billing, operator } = await openWithOperators(engine)
    const runtime = createRuntime({ url: origin, database: { url: billing.url ?? '' } }, unhurried)
    const core = coreOf(runtime)
    t.after(async () => {
      await core.close()
      await billing.close()
    })
    const here = await signIn(serveConsole(billing).browse(), operator.token)
    const there = serveConsole({ core, runtime }).browse()
    there.cookies.set(session, here.cookies.get(session) ?? '')
    assert.equal(await isSignedIn(there), true)
    const out = `${consolePath}/sign-out`
    await here.press(await here.formAt(payments, out), out)
    assert.equal(await isSignedIn(there), false)
  })
})
