import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { BillingOptions } from '../../src/billing/options.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { isQuittanceError, type ErrorCode } from '../../src/kernel/errors.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { postgres, onPostgres } from '../support/databases.ts'
import { untilSilent, type SilenceLimit } from '../providers/until-silent.ts'
import { altered, registrars, type Registrar } from './registered-endpoints.ts'

const origin = 'https://pay.example.test'

async function failureOf(work: Promise<unknown>): Promise<readonly [ErrorCode, string]> {
  try {
    await work
  } catch (error) {
    assert.ok(isQuittanceError(error), String(error))
    return [error.code, `${error.message} — ${error.fix}`]
  }
  throw new Error('nothing failed')
}

onPostgres(() => {
  for (const [name, start] of registrars) {
    describe(name, () => {
      let registrar: Registrar
      let billing: TestBilling
      let silence: SilenceLimit
      let core: BillingCore
      const open = (options: BillingOptions = {}) =>
        openBilling(postgres, {
          url: origin,
          gateways: { [name]: registrar.provider.config },
          providerTimeoutMs: silence.limitMs,
          ...options,
        })
      before(async () => {
        registrar = await start()
        silence = untilSilent(registrar.provider)
        billing = await open()
        core = billing.core
      })
      after(async () => {
        await billing.close()
        silence[Symbol.dispose]()
        await registrar.provider.close()
      })
      beforeEach(async () => {
        await registrar.clear()
        assert.deepEqual(await registrar.list(), [])
      })
      const url = `${origin}/billing/webhooks/${name}`
      const handled = () => {
        const events = registrar.provider.gateway.registration?.events
        assert.ok(events)
        return events
      }
      const changes = () =>
        registrar.provider.asked.filter(
          ({ asking, request }) => asking === 'endpoints' && request.method !== 'GET',
        ).length

      test('the first run makes the endpoint, and tells its secret', async () => {
        const { action, endpoint, secret, secretIsConfigured, orphans } =
          await core.registration.register(name)
        assert.equal(action, 'created')
        assert.equal(secret?.reveal(), registrar.secretOf(endpoint.id))
        assert.deepEqual(orphans, [])
        assert.notEqual(secretIsConfigured, true)
        assert.deepEqual(await registrar.list(), [
          { id: endpoint.id, url, events: handled(), enabled: true },
        ])
      })

      test('the second run changes nothing, and tells no secret again', async () => {
        const first = await core.registration.register(name)
        const before = changes()
        const second = await core.registration.register(name)
        assert.equal(second.action, 'unchanged')
        assert.equal(second.endpoint.id, first.endpoint.id)
        assert.equal(second.secret, undefined)
        assert.equal(changes(), before)
        assert.equal((await registrar.list()).length, 1)
      })

      for (const [what, wrong] of [
        ['is switched off', { enabled: false }],
        ['lacks events', { missing: 2 }],
        ['sends events that nobody handles', { extra: 'payout.paid' }],
      ] as const) {
        test(`an endpoint that ${what} is updated, and stays the same one`, async () => {
          const { endpoint } = await core.registration.register(name)
          const events = [
            ...handled().slice('missing' in wrong ? wrong.missing : 0),
            ...('extra' in wrong ? [wrong.extra] : []),
          ]
          await registrar.change(endpoint.id, { url, events, enabled: !('enabled' in wrong) })
          const { own } = await core.registration.read(name)
          assert.deepEqual(own[0]?.faults, [
            'enabled' in wrong
              ? { kind: 'disabled' }
              : {
                  kind: 'events',
                  missing: 'missing' in wrong ? handled().slice(0, 2) : [],
                  extra: 'extra' in wrong ? [wrong.extra] : [],
                },
          ])
          const { action, secret } = await core.registration.register(name)
          assert.deepEqual([action, secret], ['updated', undefined])
          assert.deepEqual(await registrar.list(), [
            { id: endpoint.id, url, events: handled(), enabled: true },
          ])
        })
      }

      test('endpoints of others stay as they are, and are not offered', async () => {
        const foreign = [
          'https://shop.example.org/hooks/payments',
          `https://shop.example.org/${name}/events`,
          'https://pay.example.test/hooks/payments',
          `https://shop.example.org/billing/webhooks/${name}s`,
        ]
        for (const one of foreign) await registrar.make({ url: one })
        const before = await registrar.list()
        const { action, orphans, endpoint } = await core.registration.register(name)
        assert.deepEqual([action, orphans], ['created', []])
        const kept = (await registrar.list()).filter(({ id }) => id !== endpoint.id)
        assert.deepEqual(kept, before)
      })

      test('after a change of path or domain the old endpoint is offered, not removed', async () => {
        const [alias = ''] = registrar.provider.gateway.aliases
        const old = [
          `${origin}/hooks/${name}/in`,
          `https://old.example.org/billing/webhooks/${name}`,
          `https://old.example.org/webhook/billing/${alias}`,
        ]
        const ids: string[] = []
        for (const one of old) ids.push(await registrar.make({ url: one }))
        const { action, orphans, endpoint } = await core.registration.register(name)
        assert.equal(action, 'created')
        assert.deepEqual(orphans.map(({ id }) => id).toSorted(), ids.toSorted())
        assert.equal((await registrar.list()).length, 4)
        await core.registration.remove(name, ids)
        assert.deepEqual(
          (await registrar.list()).map(({ id }) => id),
          [endpoint.id],
        )
        assert.deepEqual((await core.registration.register(name)).orphans, [])
      })

      test('a path of the merchant’s own is found at another domain, too', async () => {
        const path = '/pay/{gateway}/callback'
        await using other = await open({ webhook: { path } })
        const moved = await registrar.make({ url: `https://old.example.org/pay/${name}/callback` })
        const usual = await registrar.make({ url })
        const { endpoint, orphans, ...result } = await other.core.registration.register(name)
        assert.equal(result.url, `${origin}/pay/${name}/callback`)
        assert.equal(endpoint.url, result.url)
        assert.deepEqual(orphans.map(({ id }) => id).toSorted(), [moved, usual].toSorted())
      })

      test('ten runs at once: one more run keeps one of them and offers the others', async () => {
        const runs = Array.from({ length: 10 }, () => core.registration.register(name))
        const made = await Promise.all(runs)
        const { action, endpoint, orphans } = await core.registration.register(name)
        assert.equal(action, 'unchanged')
        const ids = made.map((one) => one.endpoint.id)
        assert.ok(ids.includes(endpoint.id))
        const all = (await registrar.list()).map(({ id }) => id)
        assert.deepEqual([...new Set(ids)].toSorted(), all.toSorted())
        assert.deepEqual(
          orphans.map(({ id }) => id).toSorted(),
          all.filter((id) => id !== endpoint.id).toSorted(),
        )
        await core.registration.remove(
          name,
          orphans.map(({ id }) => id),
        )
        const last = await core.registration.register(name)
        assert.deepEqual([last.action, last.endpoint.id, last.orphans], [action, endpoint.id, []])
        assert.equal((await registrar.list()).length, 1)
      })

      test('it is registered before there is a signing secret, but not without the API key', async () => {
        const { gateway, config } = registrar.provider
        const { apiCredential = '' } = gateway
        const { signing_secret: _, ...keyAlone } = config
        await using early = await open({ gateways: { [name]: keyAlone } })
        assert.equal(early.core.gateways()[name]?.configured, false)
        assert.equal((await early.core.registration.register(name)).action, 'created')
        const { [apiCredential]: __, ...without } = config
        await using keyless = await open({ gateways: { [name]: without } })
        const [code, text] = await failureOf(keyless.core.registration.register(name))
        assert.equal(code, 'gateway_not_configured')
        const [variable = ''] = gateway.credentials[apiCredential]?.env ?? []
        assert.match(text, new RegExp(`Set ${variable}\\.$`))
      })

      test('a URL that the provider cannot reach is refused before anything is asked', async () => {
        const asked = registrar.provider.asked.length
        const unusable = [
          'http://pay.example.test',
          'https://localhost:3000',
          'https://192.168.1.9',
          'https://[::1]',
        ]
        for (const one of unusable) {
          await using local = await open({ url: one })
          const [code, text] = await failureOf(local.core.registration.register(name))
          assert.equal(code, 'public_url_unusable', one)
          assert.match(text, /APP_NGROK_URL/)
        }
        assert.equal(registrar.provider.asked.length, asked)
      })

      test('what the provider refuses, or does not answer, is an error that names it', async () => {
        const { provider } = registrar
        provider.misbehave('endpoints', 'refuse')
        assert.equal((await failureOf(core.registration.register(name)))[0], 'provider_refused')
        provider.misbehave('endpoints', 'never')
        assert.equal((await failureOf(core.registration.register(name)))[0], 'provider_unreachable')
        assert.deepEqual(await registrar.list(), [])
      })
    })
  }

  describe('what only one of them has', () => {
    test('Stripe: an endpoint of another version is replaced, and the old one is offered', async (t) => {
      const [[name, start] = []] = registrars
      assert.ok(name && start)
      const registrar = await start()
      t.after(() => registrar.provider.close())
      const { config } = registrar.provider
      await using first = await openBilling(postgres, { url: origin, gateways: { [name]: config } })
      const made = await first.core.registration.register(name)
      // The provider shows the endpoint that was made first in an older version.
      const older = await altered(config['api_base'] ?? '', (body) =>
        body.replaceAll(/\{[^{}]*"api_version":"[^{}]*\}/g, (object) =>
          object.includes(made.endpoint.id)
            ? object.replace(/("api_version":")[^"]+/, '$12019-01-01')
            : object,
        ),
      )
      t.after(() => older.close())
      const gateways = { [name]: { ...config, api_base: older.base } }
      await using billing = await openBilling(postgres, { url: origin, gateways })
      const { own } = await billing.core.registration.read(name)
      const wanted = registrar.provider.gateway.registration?.apiVersion
      assert.deepEqual(own[0]?.faults, [{ kind: 'version', found: '2019-01-01', wanted }])
      const replaced = await billing.core.registration.register(name)
      assert.equal(replaced.action, 'replaced')
      assert.equal(replaced.secret?.reveal(), registrar.secretOf(replaced.endpoint.id))
      assert.deepEqual(
        replaced.orphans.map(({ id }) => id),
        [made.endpoint.id],
      )
      const again = await billing.core.registration.register(name)
      assert.deepEqual([again.action, again.endpoint.id], ['unchanged', replaced.endpoint.id])
      assert.equal(again.secretIsConfigured, undefined, 'Stripe does not tell it')
    })

    test('Paddle: of several endpoints the one whose secret is configured is kept', async (t) => {
      const [name, start] = registrars[1] ?? []
      assert.ok(name && start)
      const registrar = await start()
      t.after(() => registrar.provider.close())
      const { config, gateway } = registrar.provider
      const url = `${origin}/billing/webhooks/${name}`
      const events = gateway.registration?.events ?? []
      const ids: string[] = []
      for (let made = 0; made < 3; made += 1) ids.push(await registrar.make({ url, events }))
      // Even where it has to be updated.
      const [, second = ''] = ids
      await registrar.change(second, { url, enabled: false })
      const secrets = `pdl_ntfset_another_secret,${registrar.secretOf(second)}`
      await using billing = await openBilling(postgres, {
        url: origin,
        gateways: { [name]: { ...config, signing_secret: secrets } },
      })
      const { own } = await billing.core.registration.read(name)
      assert.deepEqual(
        own.map(({ secretIsConfigured }) => secretIsConfigured),
        [true, false, false],
      )
      const result = await billing.core.registration.register(name)
      assert.deepEqual(
        [result.action, result.endpoint.id, result.secretIsConfigured],
        ['updated', second, true],
      )
      assert.equal(result.orphans.length, 2)
    })

    test('a gateway without endpoints says so, and an unknown one is unknown', async () => {
      await using billing = await openBilling(postgres, { url: origin })
      const { register, read, remove } = billing.core.registration
      for (const work of [register('fake'), read('fake'), remove('fake', ['1'])]) {
        assert.equal((await failureOf(work))[0], 'operation_unsupported')
      }
      assert.equal((await failureOf(register('nowhere')))[0], 'gateway_unknown')
    })
  })
})
