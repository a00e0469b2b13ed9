import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { RegisteredEndpoint } from '../../src/gateways/operations.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { secret } from '../../src/kernel/secret.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { stating } from '../support/stating-gateway.ts'
import { consolePath, visiting, type Visitor } from './visitor.ts'

const canary = 'a-secret-that-no-page-may-show'
const hostile = '<script>alert(1)</script>\u{202e}'

let endpoints: readonly RegisteredEndpoint[] = []
let asked = 0
let isAway = false

const registering: Gateway = {
  ...stating,
  name: 'registering',
  title: 'Registering gateway',
  aliases: ['signup'],
  webhook_requires_dashboard_setup: true,
  credentials: {
    key: {
      env: ['REGISTERING_KEY'],
      secret: true,
      required: true,
      description: 'Signs callbacks.',
    },
    region: { env: ['REGISTERING_REGION'], secret: false, required: false, description: 'Where.' },
  },
  registration: {
    events: ['paid', 'refunded'],
    secretField: 'key',
    notes: [],
    list: () => {
      asked += 1
      if (isAway) throw new QuittanceError('provider_unreachable', 'no answer from the provider')
      return Promise.resolve(endpoints)
    },
    create: () => Promise.reject(new Error('not here')),
    update: () => Promise.reject(new Error('not here')),
    remove: () => Promise.reject(new Error('not here')),
  },
}

const url = 'https://pay.example.test/billing/webhooks/registering'
const good: RegisteredEndpoint = {
  id: 'we_1',
  url,
  events: ['paid', 'refunded'],
  enabled: true,
  apiVersion: null,
  secret: secret(canary),
}

onAnyDatabase((engine) => {
  describe('the gateways in the console', () => {
    let billing: TestBilling
    let olena: Visitor
    let taras: Visitor
    before(async () => {
      billing = await openBilling(engine, {
        url: 'https://pay.example.test',
        extraGateways: [registering],
        gateways: { registering: { key: `${canary},${canary}-2`, region: 'eu' } },
      })
      const as = visiting(billing.core)
      olena = as('olena')
      taras = as('taras', 'viewer')
    })
    after(() => billing.close())

    const path = '/gateways/registering'
    const check = () => olena.submit(`${path}/registration`)
    const stated = async (...some: readonly RegisteredEndpoint[]) => {
      endpoints = some
      await check()
      return olena.open(path)
    }

    test('say which take callbacks, and which variables the others lack', async () => {
      const { text, html } = await olena.open('/gateways')
      assert.match(text, /registering Registering gateway taken/)
      assert.match(text, /stripe Stripe refused set STRIPE_SIGNING_SECRET/)
      assert.ok(html.includes(url))
      for (const { name } of Object.values(billing.core.gateways())) {
        assert.equal((await olena.open(`/gateways/${name}`)).status, 200, name)
      }
    })

    test('show their callback URLs, what they can do, and of secrets only how many are set', async () => {
      const { text, html } = await olena.open(path)
      assert.ok(html.includes(`<code>${url}</code>`))
      assert.match(
        text,
        /Answered as well: https:\/\/pay\.example\.test\/webhook\/billing\/registering/,
      )
      assert.match(text, /It must be registered at the provider/)
      assert.match(text, /registers the callback URL at the provider/)
      assert.match(text, /REGISTERING_KEY 2 are set yes Signs callbacks\./)
      assert.match(text, /REGISTERING_REGION eu no/)
      assert.ok(!html.includes(canary))
      assert.equal((await olena.open('/gateways/signup')).status, 200)
      assert.equal((await olena.open('/gateways/nope')).status, 404)
      assert.match((await olena.open('/gateways/stripe')).text, /refused set STRIPE_SIGNING_SECRET/)
    })

    test('are asked for their registration on demand, and the answer is kept for a while', async () => {
      const before = asked
      const unasked = visiting(billing.core)('olena')
      assert.match((await unasked.open(path)).text, /was not asked in the last 10 minutes/)
      assert.equal(asked, before)
      endpoints = [good]
      const answer = await check()
      assert.deepEqual(
        [answer.status, answer.headers.get('location')],
        [303, `${consolePath}${path}?registration=shown&done=registration_read`],
      )
      assert.equal(asked, before + 1)
      const { text, html } = await olena.open(`${path}?registration=shown`)
      assert.match(text, /It sends exactly what is handled here, to the right URL\./)
      assert.match(text, /Asked at/)
      await taras.open(`${path}?registration=shown`)
      assert.equal(asked, before + 1)
      assert.ok(!html.includes(canary))
      const [action] = (await billing.core.operators.actions()).data
      assert.deepEqual(
        [action?.action, action?.subject, action?.outcome],
        ['readRegistration', 'registering', 'done'],
      )
    })

    test('ask by themselves where another process has asked, for operators alone', async () => {
      endpoints = [good]
      const elsewhere = visiting(billing.core)
      const before = asked
      await elsewhere('taras', 'viewer').open(`${path}?registration=shown`)
      assert.equal(asked, before)
      const { text } = await elsewhere('olena').open(`${path}?registration=shown`)
      assert.match(text, /It sends exactly what is handled here/)
      assert.equal(asked, before + 1)
    })

    test('say in words what is wrong with the registration, and what to do', async () => {
      assert.match(
        (await stated()).text,
        /It has no endpoint for .* no callback comes\. Register it/,
      )
      const off = await stated({ ...good, enabled: false })
      assert.match(off.text, /Endpoint we_1: switched off\./)
      const less = await stated({ ...good, events: ['paid', hostile] })
      assert.match(less.text, /lacks refunded; sends .*, which nobody handles/)
      assert.ok(!less.html.includes('<script>') && !less.html.includes('\u{202e}'))
      const other = await stated({ ...good, secret: secret('another-secret-of-theirs') })
      assert.match(other.text, /REGISTERING_KEY is not the secret of endpoint we_1/)
      assert.ok(!other.html.includes('another-secret-of-theirs'))
      assert.match((await stated(good, good)).text, /every event comes 2 times/)
      const orphan = { ...good, url: 'https://old.example.test/billing/webhooks/registering' }
      assert.match((await stated(good, orphan)).text, /left over from another URL\?/)
    })

    test('say why the provider could not be asked', async () => {
      isAway = true
      await check()
      isAway = false
      const { text, status } = await olena.open(path)
      assert.equal(status, 200)
      assert.match(text, /It could not be asked: no answer from the provider/)
      const [action] = (await billing.core.operators.actions()).data
      assert.equal(action?.outcome, 'failed')
      assert.equal((await olena.open('/gateways/fake/registration')).status, 404)
    })

    test('are not asked for a viewer, who sees no button for it', async () => {
      const before = asked
      assert.doesNotMatch((await taras.open(path)).text, /Check the registration/)
      assert.equal((await taras.open(`${path}/registration`)).status, 403)
      const form = await olena.hidden(`${path}/registration`)
      assert.equal((await taras.send(`${path}/registration`, form)).status, 403)
      assert.equal(asked, before)
    })
  })
})
