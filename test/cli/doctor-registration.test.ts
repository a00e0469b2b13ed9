import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { providerEnvironment } from '../money/provider-environment.ts'
import { altered, registrars, type Registrar } from '../money/registered-endpoints.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { assertFinding, doctor } from './doctor.ts'

const origin = 'https://quittance.invalid'
let folder: TemporaryFolder
before(() => {
  folder = temporaryFolder()
})
after(() => folder.remove())

for (const [name, start] of registrars) {
  describe(`doctor compares what ${name} has registered with the configuration:`, () => {
    let registrar: Registrar
    let env: Record<string, string>
    before(async () => {
      registrar = await start()
      env = { ...providerEnvironment(registrar.provider), APP_URL: origin }
    })
    after(() => registrar.provider.close())
    beforeEach(() => registrar.clear())
    const look = (more: Readonly<Record<string, string>> = {}) =>
      doctor({ cwd: folder.path, env: { ...env, ...more } })
    const url = `${origin}/billing/webhooks/${name}`
    const command = `quittance ${name}-register-webhook`
    const signing = () => registrar.provider.gateway.credentials['signing_secret']?.env[0] ?? ''
    const handled = () => registrar.provider.gateway.registration?.events ?? []
    /** An endpoint that is right, and the variable with its secret. */
    const makeRight = async () => {
      const id = await registrar.make({ url, events: handled() })
      return { id, secret: { [signing()]: registrar.secretOf(id) } }
    }

    test('no endpoint with our URL', async () => {
      const found = (await look()).of('registration')
      assertFinding(found, 'warning', new RegExp(`no endpoint for ${url} — Run: ${command}$`))
    })

    test('an endpoint that is right', async () => {
      const { secret } = await makeRight()
      assertFinding((await look(secret)).of('registration'), 'ok', new RegExp(`to ${url} — $`))
    })

    test('one that is switched off, lacks events and sends others', async () => {
      const { id, secret } = await makeRight()
      const events = [...handled().slice(2), 'payout.paid']
      await registrar.change(id, { url, events, enabled: false })
      const found = (await look(secret)).of('registration')
      assertFinding(found, 'warning', new RegExp(`${id}: switched off; lacks .*— Run: ${command}$`))
      for (const event of [...handled().slice(0, 2), 'payout.paid, which nobody']) {
        assert.ok(found.found.includes(event), event)
      }
    })

    test('left over ones, and ones that send everything twice', async () => {
      const { secret } = await makeRight()
      await registrar.make({ url, events: handled() })
      const old = `https://old.example.org/billing/webhooks/${name}`
      await registrar.make({ url: old })
      await registrar.make({ url: 'https://shop.example.org/hooks' })
      const { findings } = await look(secret)
      const [twice, orphan, ...rest] = findings.filter(({ check }) => check === 'registration')
      assert.ok(twice && orphan && rest.length === 0)
      assertFinding(twice, 'warning', /2 endpoints for .* 2 times — Run: .* --remove-orphans$/)
      assertFinding(orphan, 'warning', new RegExp(`sends to ${old}: left over.* ${command}$`))
    })

    test('a provider that refuses is a warning that names what to mend', async () => {
      registrar.provider.misbehave('endpoints', 'refuse')
      const refused = /could not be asked where it sends callbacks: .* — Check the API credentials/
      assertFinding((await look()).of('registration'), 'warning', refused)
    })

    test('nobody is asked without an API key, or for a URL of this machine', async () => {
      const { apiCredential = '', credentials } = registrar.provider.gateway
      const [key = ''] = credentials[apiCredential]?.env ?? []
      const before = registrar.provider.asked.length
      assertFinding((await look({ [key]: '' })).of('registration'), 'ok', /no provider can be/)
      const local = await look({ APP_URL: 'http://localhost:3000' })
      assertFinding(local.of('registration'), 'skipped', /this machine or network/)
      assert.equal(registrar.provider.asked.length, before)
    })
  })
}

describe('doctor tells of a registration', () => {
  const [stripe, paddle] = registrars
  assert.ok(stripe && paddle)

  test('that the configured secret is not the endpoint’s, and shows neither', async (t) => {
    const registrar = await paddle[1]()
    t.after(() => registrar.provider.close())
    const configured = providerEnvironment(registrar.provider)
    const env = { ...configured, APP_URL: origin }
    const events = registrar.provider.gateway.registration?.events ?? []
    const id = await registrar.make({ url: `${origin}/billing/webhooks/paddle`, events })
    const { of, text, code } = await doctor({ cwd: folder.path, env })
    const wrong = /PADDLE_SIGNING_SECRET is not the secret of endpoint ntfset_.* — Copy it from/
    assertFinding(of('registration'), 'error', wrong)
    assert.equal(code, 1)
    for (const secret of [registrar.secretOf(id), configured['PADDLE_SIGNING_SECRET'] ?? '']) {
      assert.ok(secret.length > 8 && !text.includes(secret))
    }
  })

  test('that its version is another, and gives up on a provider that does not answer', async (t) => {
    const registrar = await stripe[1]()
    t.after(() => registrar.provider.close())
    const { config, gateway } = registrar.provider
    const events = gateway.registration?.events ?? []
    await registrar.make({ url: `${origin}/billing/webhooks/stripe`, events })
    const older = await altered(config['api_base'] ?? '', (body) =>
      body.replaceAll(/("api_version":")[^"]+/g, '$12019-01-01'),
    )
    t.after(() => older.close())
    const env = { ...providerEnvironment(registrar.provider), APP_URL: origin }
    const seen = await doctor({ cwd: folder.path, env: { ...env, STRIPE_API_BASE: older.base } })
    const version = /version 2019-01-01 instead of 2026-.* — Run: quittance stripe-register-webhook/
    assertFinding(seen.of('registration'), 'warning', version)
    registrar.provider.misbehave('endpoints', 'never', 'never', 'never')
    const silent = (await doctor({ cwd: folder.path, env })).of('registration')
    assertFinding(silent, 'warning', /stripe could not be asked.* did not answer within 6 s/)
  })
})
