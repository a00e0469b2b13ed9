import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { shownSettings } from '../../src/billing/shown-settings.ts'
import { processSettings } from '../../src/billing/process-settings.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { embedded, onAnyDatabase } from '../support/databases.ts'
import { migratedFolder } from '../support/embedded-template.ts'
import { startLocalService } from '../support/local-service.ts'
import { visiting, type Visitor } from './visitor.ts'

const canaries = {
  signing: 'whsec_canary_of_the_signing_secret',
  key: Buffer.alloc(32, 9).toString('base64'),
  hook: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
}

onAnyDatabase((engine) => {
  describe('the settings in the console', () => {
    let billing: TestBilling
    let olena: Visitor
    before(async () => {
      billing = await openBilling(engine, {
        url: 'https://pay.example.test',
        gateways: { stripe: { signing_secret: canaries.signing } },
        billing: { encryptionKey: canaries.key },
        forward: {
          url: 'https://hooks.example.test/services/T0/canary-in-the-path',
          secret: canaries.hook,
        },
        webhook: { pruneAfterDays: 45 },
        brand: { name: `Shop <b> of ${canaries.signing}` },
        returnOrigins: ['https://shop.example.test'],
        environment: { SOME_VARIABLE: 'canary-of-the-environment' },
        listeners: { grant: { on: 'PaymentSucceeded', run: () => undefined } },
      })
      olena = visiting(billing.core)('olena')
    })
    after(() => billing.close())

    test('show what is set, and of secrets nothing but that they are', async () => {
      const { text, html } = await olena.open('/settings')
      assert.match(text, new RegExp(`Database ${engine === embedded ? 'embedded' : 'PostgreSQL'}`))
      assert.match(text, /Rules development/)
      assert.match(text, /webhook\.pruneAfterDays 45 BILLING_WEBHOOK_PRUNE_AFTER_DAYS/)
      assert.match(text, /billing\.encryptionKey set BILLING_ENCRYPTION_KEY/)
      assert.match(text, /returnOrigins https:\/\/shop\.example\.test/)
      assert.match(text, /gateways set –/)
      assert.match(text, /forward\.url https:\/\/hooks\.example\.test\/… /)
      assert.match(text, /brand\.name Shop <b> of \[secret\]/)
      assert.doesNotMatch(text, /providerTimeoutMs|webhook\.maxBodyBytes/)
      const hidden = [...Object.values(canaries), 'canary', billing.url ?? 'canary', 'Shop <b>']
      for (const one of hidden) assert.ok(!html.includes(one), one)
    })

    test('show the listeners that are known, and the schedules that have run', async () => {
      assert.match((await olena.open('/settings')).text, /No listener is known/)
      const worker = await billing.core.work()
      await worker.stop()
      const { text } = await olena.open('/settings')
      assert.match(text, /grant PaymentSucceeded within the transaction yes/)
      assert.match(text, /Schedules (?:Schedule Next|What is done|None has run)/)
    })

    test('offer no way out where the app has a guard of its own', async () => {
      assert.doesNotMatch((await olena.open('/settings')).text, /Sign me out/)
      assert.equal((await olena.open('/settings/sign-out')).status, 404)
    })
  })
})

test('settings of the process are shown by the same rule', () => {
  const host = 'http://host.example.test?key=canary'
  const values = { apiToken: 'canary-token', port: 3000, host, console: { on: true } }
  assert.deepEqual(
    shownSettings(processSettings, values, (text) => text).map(({ name, value, secret }) => [
      name,
      value,
      secret,
    ]),
    [
      ['host', 'http://host.example.test/…', false],
      ['apiToken', null, true],
      ['console.on', 'true', false],
    ],
  )
})

test('to sign out everywhere ends every session of that operator, in a real service', async () => {
  const place = migratedFolder()
  const token = 'token-of-the-settings-for-the-console'
  const service = await startLocalService({
    cwd: place.dataDir,
    env: { BILLING_DATA_DIR: place.dataDir, BILLING_API_TOKEN: token },
  })
  const console = `${service.url}/billing/console`
  const origin = service.url
  const browser = () => {
    let cookie = ''
    return async (path: string, form?: Readonly<Record<string, string>>) => {
      const answer = await fetch(console + path, {
        redirect: 'manual',
        headers: { cookie, origin, 'sec-fetch-site': 'same-origin' },
        ...(form && { method: 'POST', body: new URLSearchParams(form) }),
      })
      const [set] = answer.headers.getSetCookie()
      if (set !== undefined) cookie = set.split(';')[0] ?? ''
      return {
        status: answer.status,
        to: answer.headers.get('location'),
        html: await answer.text(),
      }
    }
  }
  const valueOf = (html: string, name: string) =>
    new RegExp(`name="${name}"\\s+value="([^"]*)"`).exec(html.slice(html.indexOf('<main')))?.[1] ??
    ''
  const signedIn = async () => {
    const open = browser()
    const { html } = await open('/sign-in')
    const form = { form_token: valueOf(html, 'form_token'), token }
    assert.equal((await open('/sign-in', form)).status, 303)
    return open
  }
  const [here, elsewhere] = [await signedIn(), await signedIn()]
  const page = await here('/settings')
  assert.match(page.html, /Sign me out everywhere/)
  assert.match(page.html, /<th scope="row"[^>]*><span>apiToken<\/span>/)
  assert.ok(!page.html.includes(token))
  const { html } = await here('/settings/sign-out')
  const form = {
    form_token: valueOf(html, 'form_token'),
    id: valueOf(html, 'id'),
    back: valueOf(html, 'back'),
  }
  const out = await here('/settings/sign-out', form)
  assert.deepEqual(
    [out.status, out.to],
    [303, '/billing/console/sign-in?done=signed_out_everywhere'],
  )
  assert.match(
    (await here('/sign-in?done=signed_out_everywhere')).html,
    /signed out in every browser/,
  )
  for (const open of [here, elsewhere]) {
    assert.match((await open('/settings')).to ?? '', /^\/billing\/console\/sign-in/)
  }
  await service.stop()
  place.remove()
})
