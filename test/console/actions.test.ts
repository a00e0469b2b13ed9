import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { operatorConsole } from '../../src/console/index.ts'
import type { Authenticate } from '../../src/billing/authenticate.ts'
import { createLog } from '../../src/kernel/log.ts'
import { Writable } from 'node:stream'
import { newPayment, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { tableTexts } from '../support/table-texts.ts'
import { openBrowser, type Browser } from './browser.ts'
import {
  consolePath,
  ofSettings,
  openWithOperators,
  paidPayment,
  serveConsole,
  shortToken,
  signIn,
  signInPath,
  type ServedConsole,
} from './console-service.ts'

const cancelAt = (id: string) => `${consolePath}/payments/${id}/cancel`
const refundAt = (id: string) => `${consolePath}/payments/${id}/refund`

onAnyDatabase((engine) => {
  describe('what an operator does at the console', () => {
    let billing: TestBilling
    let served: ServedConsole
    let operator: Browser
    let token: string
    let viewerToken: string
    before(async () => {
      const opened = await openWithOperators(engine)
      ;({ billing } = opened)
      served = serveConsole(billing)
      token = opened.operator.token
      viewerToken = opened.viewer.token
      operator = await signIn(served.browse(), token)
    })
    after(() => billing.close())

    const actionsOn = async (subject: string) =>
      (await billing.core.operators.actions({ subject })).data
    const refundsOf = async (id: string) => (await billing.core.payments.get(id))?.refunded

    /** As if the token was shown so long ago. */
    const provedBefore = (length: string) =>
      sql`update billing.operator_sessions
        set proved_at = statement_timestamp() - ${length}::interval`.execute(billing.database.db)

    test('it is recorded before, so that nothing is done that cannot be recorded', async () => {
      const { id } = await newPayment(billing.core)
      const form = await operator.formAt(cancelAt(id))
      const { db } = billing.database
      await sql`alter table billing.operator_actions rename to away`.execute(db)
      const answer = await operator.press(form, cancelAt(id))
      await sql`alter table billing.away rename to operator_actions`.execute(db)
      assert.ok(answer.status >= 500, answer.text)
      assert.doesNotMatch(answer.text, /operator_actions|relation|at .*\.ts/)
      assert.equal((await billing.core.payments.get(id))?.status, 'pending')
      // The same form does it once all is well.
      assert.equal((await operator.press(form, cancelAt(id))).status, 303)
      const [action] = await actionsOn(id)
      assert.deepEqual(
        [action?.id, action?.operator, action?.via, action?.action, action?.outcome],
        [form.get('id'), 'olena', 'console', 'cancelPayment', 'done'],
      )
    })

    test('of what fails in a way that nobody expected, it is not known whether it was done', async () => {
      const { id } = await newPayment(billing.core)
      const form = await operator.formAt(cancelAt(id))
      const { db } = billing.database
      await sql`alter table billing.payments rename to away`.execute(db)
      const answer = await operator.press(form, cancelAt(id))
      await sql`alter table billing.away rename to payments`.execute(db)
      assert.equal(answer.status, 500)
      assert.doesNotMatch(answer.text, /billing\.payments|relation|at .*\.ts/)
      const [action] = await actionsOn(id)
      assert.equal(action?.outcome, null)
      assert.match(served.logged.join(''), /a page of the console failed unexpectedly/)
    })

    test('a double press does it once, and the second says that it was sent before', async () => {
      const { id } = await newPayment(billing.core)
      const form = await operator.formAt(cancelAt(id))
      const first = await operator.press(form, cancelAt(id))
      const second = await operator.press(form, cancelAt(id))
      assert.match(first.location ?? '', /done=canceled$/)
      assert.match(second.location ?? '', /done=already$/)
      assert.match((await operator.open(second.location ?? '')).text, /nothing was done again/)
      assert.equal((await actionsOn(id)).length, 1)
    })

    test('so it does at the same time, in two processes: one refund', async () => {
      const id = await paidPayment(billing)
      const further = serveConsole(billing).browse()
      for (const [name, value] of operator.cookies) further.cookies.set(name, value)
      const form = await operator.formAt(refundAt(id))
      form.set('amount', '10')
      const answers = await Promise.all(
        [operator, further, operator, further].map((one) => one.press(form, refundAt(id))),
      )
      const notices = answers.map(({ location }) => location?.split('done=')[1] ?? '')
      assert.deepEqual(notices.toSorted(), ['already', 'already', 'already', 'refunded'])
      assert.equal(await refundsOf(id), 1000n)
      assert.equal((await actionsOn(id)).length, 1)
    })

    test('what cannot be done says why in the form, which has another id; the audit has the code', async () => {
      const id = await paidPayment(billing)
      const form = await operator.formAt(refundAt(id))
      for (const [amount, fault, outcome] of [
        ['not money', /must be typed like 19\.99/, 'refund_invalid'],
        ['', /must be typed like 19\.99/, 'refund_invalid'],
        ['-1', /must be typed like 19\.99/, 'refund_invalid'],
        ['1000000', /refund/, 'refund_too_large'],
      ] as const) {
        form.set('amount', amount)
        const answer = await operator.press(form, refundAt(id))
        assert.ok(answer.status >= 400 && answer.status < 500, answer.text)
        assert.match(answer.text, /<p class="fault" role="alert">/)
        assert.match(answer.text, fault)
        const [action] = await actionsOn(id)
        assert.equal(action?.id, form.get('id'))
        assert.equal(action?.outcome, outcome)
        const [, next = ''] = /name="id" value="([^"]+)"/.exec(answer.text) ?? []
        assert.notEqual(next, form.get('id'))
        form.set('id', next)
      }
      assert.equal(await refundsOf(id), 0n)
    })

    test('money wants the token again after a quarter of an hour, and nothing else does', async () => {
      const id = await paidPayment(billing)
      const pending = await newPayment(billing.core)
      await provedBefore('14 min')
      assert.doesNotMatch((await operator.open(refundAt(id))).text, /Your token, again/)
      await provedBefore('16 min')
      const page = await operator.open(refundAt(id))
      assert.match(page.text, /Your token, again/)
      const cancel = await operator.formAt(cancelAt(pending.id))
      assert.equal((await operator.press(cancel, cancelAt(pending.id))).status, 303)
      const form = await operator.formAt(refundAt(id))
      form.set('amount', '10')
      for (const wrong of [undefined, '', viewerToken, shortToken, `qop_${'x'.repeat(43)}`]) {
        if (wrong === undefined) form.delete('token')
        else form.set('token', wrong)
        const answer = await operator.press(form, refundAt(id))
        assert.equal(answer.status, 403, answer.text)
        assert.match(answer.text, /not the token that you signed in with/)
        assert.match(served.logged.join(''), /"refused":1,"operators":\{"olena":1\}/)
        assert.deepEqual(await actionsOn(id), [])
      }
      form.set('token', ` ${token} `)
      assert.equal((await operator.press(form, refundAt(id))).status, 303)
      assert.equal(await refundsOf(id), 1000n)
      assert.doesNotMatch((await operator.open(refundAt(id))).text, /Your token, again/)
    })

    test('who finds a browser open guesses a short token five times a minute', async () => {
      const id = await paidPayment(billing)
      const found = await signIn(served.browse(), shortToken)
      const others = await signIn(served.browse(), shortToken)
      await provedBefore('16 min')
      const form = await found.formAt(refundAt(id))
      form.set('amount', '10')
      for (let index = 0; index < 5; index += 1) {
        form.set('token', `guess-${index}`)
        assert.equal((await found.press(form, refundAt(id))).status, 403)
      }
      form.set('token', shortToken)
      const answer = await found.press(form, refundAt(id))
      assert.equal(answer.status, 429)
      assert.match(answer.text, /Too many tries/)
      assert.equal(await refundsOf(id), 0n)
      // Nobody else is kept out by that.
      const own = await others.formAt(refundAt(id))
      own.set('amount', '10')
      own.set('token', shortToken)
      assert.equal((await others.press(own, refundAt(id))).status, 303)
      await provedBefore('0 s')
    })

    test('a form leads back to where it was opened, and to no other site', async () => {
      const { id } = await newPayment(billing.core)
      const list = `${consolePath}/payments?status=pending&gateway=fake`
      const page = `${cancelAt(id)}?back=${encodeURIComponent(list)}`
      const form = await operator.formAt(page, cancelAt(id))
      assert.equal(form.get('back'), list)
      form.set('back', 'https://evil.example/billing/console')
      const answer = await operator.press(form, cancelAt(id))
      assert.equal(answer.location, `${consolePath}/payments/${id}?done=canceled`)
      for (const hostile of ['//evil.example', 'javascript:alert(1)', '/\\evil.example']) {
        const { text } = await operator.open(`${cancelAt(id)}?back=${encodeURIComponent(hostile)}`)
        assert.ok(!text.includes(`href="${hostile}`) && !text.includes(`value="${hostile}`))
      }
    })

    test('no secret is in the log, in the database, nor in any answer but as the cookie', async () => {
      const settings = [ofSettings('canary-of-the-settings-0123456789')]
      const canary = serveConsole(billing, { settings })
      const browsers = [canary.browse(), canary.browse()]
      const [first, second] = browsers
      assert.ok(first !== undefined && second !== undefined)
      await signIn(first, token)
      await signIn(second, 'canary-of-the-settings-0123456789')
      const wrong = await first.formAt(`${consolePath}/payments`, `${consolePath}/sign-out`)
      wrong.set('token', 'canary-that-was-mistyped')
      await first.press(wrong, signInPath)
      const key = canary.link.make()
      await first.open(`${signInPath}/once?key=${key}`)
      const id = await paidPayment(billing)
      await provedBefore('16 min')
      const form = await first.formAt(refundAt(id))
      form.set('amount', '10')
      form.set('token', 'canary-that-was-mistyped')
      await first.press(form, refundAt(id))
      form.set('token', token)
      await first.press(form, refundAt(id))
      const keys = browsers.flatMap(({ cookies }) => [...cookies.values()])
      const secrets = [
        token,
        viewerToken,
        'canary-of-the-settings-0123456789',
        'canary-that-was-mistyped',
        key,
        ...keys,
      ]
      const stored = [...(await tableTexts(billing.database)).values()].join('\n')
      const logged = [...canary.logged, ...served.logged].join('\n')
      const answered = browsers.flatMap((one) => one.answered).join('\n')
      const withoutCookies = answered.replaceAll(/"set-cookie","[^"]*"/g, '')
      for (const text of secrets) {
        assert.ok(!stored.includes(text), `stored: ${text}`)
        assert.ok(!logged.includes(text), `logged: ${text}`)
        assert.ok(!withoutCookies.includes(text), `answered: ${text}`)
      }
      assert.ok(keys.every((one) => answered.includes(one)))
    })
  })

  describe('the console behind an app’s own guard', () => {
    let billing: TestBilling
    before(async () => {
      ;({ billing } = await openWithOperators(engine))
    })
    after(() => billing.close())

    const path = '/admin/billing'
    function guardedBy(authenticate: Authenticate) {
      const logged: string[] = []
      const destination = new Writable({
        write: (chunk, _encoding, done) => {
          logged.push(String(chunk))
          done()
        },
      })
      const pages = operatorConsole(billing.core, {
        path,
        hosts: ['admin.example.com'],
        authenticate,
        log: createLog({ level: 'warn', destination }),
      })
      return { logged, browser: openBrowser(pages.fetch, 'https://admin.example.com') }
    }

    test('what the guard says no with is answered; nothing is shown, and nothing signs in', async () => {
      for (const [found, status] of [
        [undefined, 403],
        [null, 403],
        [false, 403],
        [new Response('to the login', { status: 302, headers: { location: '/login' } }), 302],
      ] as const) {
        const { browser } = guardedBy((() => found) as unknown as Authenticate)
        assert.equal((await browser.open(`${path}/payments`)).status, status)
      }
      const { browser } = guardedBy(() => undefined)
      assert.equal((await browser.open(`${path}/sign-in`)).status, 403)
      assert.equal((await browser.open(`${path}/sign-in/once?key=x`)).status, 403)
    })

    test('a guard that answers rubbish, or fails, lets nobody in, and says nothing of it to them', async () => {
      const rubbish: readonly unknown[] = [
        true,
        'operator',
        [],
        {},
        { name: 'x' },
        { name: '', role: 'operator' },
        { name: 'x', role: 'admin' },
        { name: 7, role: 'operator' },
        { name: 'x', role: ['operator'] },
      ]
      const guards: readonly (() => unknown)[] = [
        ...rubbish.map((found) => () => found),
        () => {
          throw new Error('the secret of the app')
        },
        () => Promise.reject(new Error('the secret of the app')),
      ]
      for (const guard of guards) {
        const { browser, logged } = guardedBy(guard as unknown as Authenticate)
        const answer = await browser.open(`${path}/payments`)
        assert.equal(answer.status, 500)
        assert.doesNotMatch(answer.text, /secret of the app|authenticate|\.ts/)
        assert.match(logged.join(''), /a page of the console failed unexpectedly/)
      }
    })

    test('its operators act by forms of their own browser alone, under their names', async () => {
      const { browser } = guardedBy((request) => {
        // It gets no body to read, and all else.
        assert.equal(request.body, null)
        return { name: 'Олена\u0000\u202e', role: 'operator' }
      })
      const { id } = await newPayment(billing.core)
      const cancel = `${path}/payments/${id}/cancel`
      const form = await browser.formAt(cancel)
      assert.deepEqual([...browser.cookies.keys()], ['__Host-quittance'])
      for (const headers of [{ cookie: undefined }, { 'sec-fetch-site': 'cross-site' }]) {
        assert.equal((await browser.press(form, cancel, { headers })).status, 403)
      }
      const kept = browser.cookies.get('__Host-quittance')
      assert.equal((await billing.core.payments.get(id))?.status, 'pending')
      const again = await browser.formAt(cancel)
      assert.equal(browser.cookies.get('__Host-quittance'), kept)
      assert.equal((await browser.press(again, cancel)).status, 303)
      const [action] = (await billing.core.operators.actions({ subject: id })).data
      assert.equal(action?.operator, 'Олена\u{fffd}\u202e')
    })

    test('its viewers only look', async () => {
      const { browser } = guardedBy(() => ({ name: 'bookkeeping', role: 'viewer' }))
      const { id } = await newPayment(billing.core)
      const page = await browser.open(`${path}/payments/${id}`)
      assert.equal(page.status, 200)
      assert.doesNotMatch(page.text, /\/cancel/)
      assert.equal((await browser.open(`${path}/payments/${id}/cancel`)).status, 403)
      assert.equal((await billing.core.payments.get(id))?.status, 'pending')
    })
  })
})
