import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { providerEnvironment } from '../money/provider-environment.ts'
import { registrars, type Registrar } from '../money/registered-endpoints.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deploy, type Deployment } from '../support/deployment.ts'
import type { Ending } from '../support/process.ts'

interface View {
  readonly gateway: string
  readonly action: string
  readonly url: string
  readonly endpoint: { readonly id: string; readonly events: readonly string[] }
  readonly signing_secret: string | null
  readonly secret_variable: string
  readonly secret_is_configured: boolean | null
  readonly orphans: readonly { readonly id: string; readonly url: string }[]
  readonly removed: readonly string[]
  readonly notes: readonly string[]
}

onPostgres((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  for (const [name, start] of registrars) {
    describe(`${name}-register-webhook`, () => {
      let registrar: Registrar
      let env: Record<string, string>
      before(async () => {
        registrar = await start()
        env = {
          ...deployment.env,
          APP_URL: 'https://pay.example.test',
          ...providerEnvironment(registrar.provider),
        }
      })
      after(() => registrar.provider.close())
      beforeEach(async () => {
        await registrar.clear()
        const events = registrar.provider.gateway.registration?.events ?? []
        await registrar.make({ url, events })
      })
      const command = `${name}-register-webhook`
      const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
        runHosted(args, { cwd: deployment.cwd, env: { ...env, ...more } })
      const json = async (...args: readonly string[]) => {
        const { code, stdout, stderr } = await run([command, ...args, '--json'])
        assert.deepEqual([code, stderr], [0, []])
        return JSON.parse(stdout.join('\n')) as View
      }
      const url = `https://pay.example.test/billing/webhooks/${name}`
      const moved = { APP_URL: 'https://new.example.test' }
      const succeeded = ({ code, stdout, stderr }: Ending) => {
        assert.deepEqual([code, stderr], [0, []])
        assert.deepEqual(
          stdout.filter((line) => line.length > 80),
          [],
        )
        return stdout.join('\n')
      }
      const variable = () => registrar.provider.gateway.credentials['signing_secret']?.env[0] ?? ''

      test('--json has the secret only once', async () => {
        const { gateway } = registrar.provider
        const again = await json()
        assert.deepEqual(
          [again.gateway, again.action, again.url, again.signing_secret, again.secret_variable],
          [name, 'unchanged', url, null, variable()],
        )
        assert.deepEqual(again.notes, gateway.registration?.notes)
        const { code, stdout } = await run([command, '--json'], moved)
        assert.equal(code, 0)
        const created = JSON.parse(stdout.join('\n')) as View
        assert.equal(created.action, 'created')
        assert.equal(created.signing_secret, registrar.secretOf(created.endpoint.id))
        assert.deepEqual(created.endpoint.events, gateway.registration?.events)
        assert.deepEqual(
          created.orphans.map((one) => one.url),
          [url],
        )
        assert.deepEqual(created.removed, [])
      })

      test('says what was done, where the secret goes, and what the provider cannot do', async () => {
        const { [variable()]: _, ...withoutSecret } = env
        const { gateway } = registrar.provider
        const first = succeeded(
          await runHosted([command], {
            cwd: deployment.cwd,
            env: { ...withoutSecret, ...moved },
          }),
        )
        const made = (await registrar.list()).find((one) => one.url.includes('new.example'))
        assert.ok(made)
        assert.ok(first.startsWith(`${gateway.title} has a new endpoint, ${made.id}.`))
        assert.match(first, /url {6}https:\/\/new\.example\.test\/billing\/webhooks\//)
        assert.ok(first.includes(`\n  events   ${made.events.length}, exactly`))
        assert.ok(first.includes(`\n  ${variable()}=${registrar.secretOf(made.id)}\n`))
        assert.match(first, /restart the service/)
        const unfolded = first.replaceAll(/\n {2}(?! )/g, ' ')
        for (const note of gateway.registration?.notes ?? []) assert.ok(unfolded.includes(note))
        const again = await runHosted([`billing:${command}`], {
          cwd: deployment.cwd,
          env: { ...withoutSecret, ...moved },
        })
        const second = succeeded(again)
        assert.match(second, /is as it should be\./)
        assert.match(second, new RegExp(`${variable()} is not set: no callback is taken`))
        assert.ok(!second.includes(registrar.secretOf(made.id)))
      })

      test('answers to its alias; a change by hand is undone and told', async () => {
        const { endpoint } = await json()
        await registrar.change(endpoint.id, { url, events: ['payout.paid'], enabled: false })
        const [alias = ''] = registrar.provider.gateway.aliases
        const text = succeeded(await run([`billing:${alias}-register-webhook`]))
        assert.match(
          text.replaceAll('\n', ' '),
          /Before: switched off; lacks [^;]+ more; sends payout/,
        )
        assert.equal((await registrar.list())[0]?.enabled, true)
      })

      test('says whether the configured secret is the endpoint’s, and never shows it', async () => {
        const { endpoint, secret_is_configured: isConfigured } = await json()
        const known = name === 'paddle'
        assert.equal(isConfigured, known ? false : null)
        const other = succeeded(await run([command]))
        assert.match(
          other.replaceAll('\n', ' '),
          known ? /has another secret: .* refused/ : /Whether .* does not tell\./,
        )
        const secret = registrar.secretOf(endpoint.id)
        const right = succeeded(await run([command], { [variable()]: secret }))
        if (known) assert.match(right, /has its signing secret\./)
        assert.ok(!`${other}${right}`.includes(secret))
      })

      test('an endpoint of the old URL is named and kept, until it is to be removed', async () => {
        const kept = succeeded(await run([command], moved))
        assert.match(kept, /Probably left over/)
        assert.ok(kept.includes(url))
        assert.match(kept.replaceAll('\n', ' '), /--remove-orphans$/)
        assert.equal((await registrar.list()).length, 2)
        const removing = succeeded(await run([command, '--remove-orphans'], moved))
        assert.match(removing, /\nRemoved \w+\.$/)
        assert.deepEqual(
          (await registrar.list()).map((one) => new URL(one.url).host),
          ['new.example.test'],
        )
      })

      describe('for an account', () => {
        const account = `${name}-eu`
        const accountVariable = `${account.replace('-', '_')}_SIGNING_SECRET`.toUpperCase()
        const accountEnv = () => ({
          ...deployment.env,
          APP_URL: 'https://pay.example.test',
          BILLING_GATEWAYS: `${account}:${name},strange:fake`,
          ...Object.fromEntries(
            Object.entries(registrar.provider.config).map(([field, value]) => [
              `${account.replace('-', '_')}_${field}`.toUpperCase(),
              value,
            ]),
          ),
        })
        const runFor = (...args: readonly string[]) =>
          runHosted([command, ...args], { cwd: deployment.cwd, env: accountEnv() })

        test('its own URL is registered with its own key, and its secret is named', async () => {
          const ended = await runFor('--gateway', account, '--json')
          assert.deepEqual([ended.code, ended.stderr], [0, []])
          const made = JSON.parse(ended.stdout.join('\n')) as View
          assert.deepEqual(
            [made.gateway, made.action, made.url, made.secret_variable],
            [
              account,
              'created',
              `https://pay.example.test/billing/webhooks/${account}`,
              accountVariable,
            ],
          )
          // What is registered for the gateway itself is not left over from this one.
          assert.deepEqual(made.orphans, [])
          const told = (await runFor('--gateway', account)).stdout.join(' ').replaceAll(/\s+/g, ' ')
          assert.match(
            told,
            new RegExp(`of ${registrar.provider.gateway.title} \\(${account}\\) is as`),
          )
          assert.match(told, new RegExp(accountVariable))
          const own = `${name.toUpperCase()}_SIGNING_SECRET`
          assert.ok(!told.includes(own), told)
        })

        test('without its name it is about the gateway itself, which has no key here', async () => {
          const { code, stderr } = await runFor()
          assert.equal(code, 1)
          assert.match(stderr.join(' '), new RegExp(`gateway ${name} cannot register webhooks`))
        })

        test('one of another gateway, and one that nobody has, are refused', async () => {
          const other = await runFor('--gateway', 'strange')
          assert.equal(other.code, 2)
          assert.match(other.stderr.join(' '), new RegExp(`strange is no account of ${name} `))
          const none = await runFor('--gateway', 'nobody')
          assert.equal(none.code, 1)
          assert.match(none.stderr.join(' '), /gateway "nobody" is not registered; there are .*-eu/)
        })
      })

      // The same code for all of them: one is enough.
      if (name === 'stripe') testTerminal()
      else testFailures()

      test('where an orphan cannot be removed, the secret was told all the same', async () => {
        const { provider } = registrar
        provider.misbehave('endpoints', 'late', 'late', 'refuse')
        const ended = await run([command, '--remove-orphans', '--json'], moved)
        assert.equal(ended.code, 1)
        const { signing_secret: secret, removed } = JSON.parse(ended.stdout.join('\n')) as View
        assert.match(secret ?? '', /^(?:whsec|pdl)_/)
        assert.deepEqual(removed, [])
      })

      function testTerminal(): void {
        test('on a terminal it asks for each, and removes what it may', async () => {
          const ask = (keys: string, args: readonly string[] = []) =>
            runHosted([command, ...args], {
              cwd: deployment.cwd,
              env: { ...env, ...moved, TERM: 'xterm-256color' },
              terminal: { columns: 80, keys },
            })
          const no = await ask('n\r')
          assert.equal(no.code, 0)
          assert.match(no.stderr.join('\n'), /Remove \w+,\s+https:\/\/pay\.example/)
          assert.equal((await registrar.list()).length, 2)
          const silent = await ask('y\r', ['--json'])
          assert.deepEqual(silent.stderr, [], 'nobody is asked where JSON is wanted')
          assert.equal((await registrar.list()).length, 2)
          const gone = await ask('\u0003')
          assert.equal(gone.code, 0, 'whoever leaves keeps it')
          assert.equal((await registrar.list()).length, 2)
          const yes = await ask('y\r')
          assert.equal(yes.code, 0)
          assert.match(yes.stdout.join('\n'), /Removed/)
          assert.equal((await registrar.list()).length, 1)
        })
      }

      function testFailures(): void {
        test('failures: a URL nobody reaches, no key, a refusal with the provider’s limits', async () => {
          const { provider } = registrar
          const failed = ({ code, stdout, stderr }: Ending) => {
            assert.deepEqual([code, stdout], [1, []])
            return stderr.join('\n')
          }
          const local = await run([command], { APP_URL: 'http://localhost:3000' })
          assert.match(failed(local), /cannot reach http:\/\/localhost.* — Set APP_URL/)
          const credential = provider.gateway.credentials[provider.gateway.apiCredential ?? '']
          const [key = ''] = credential?.env ?? []
          assert.match(failed(await run([command], { [key]: '' })), new RegExp(`— Set ${key}\\.$`))
          provider.misbehave('endpoints', 'refuse')
          const refused = failed(await run([command]))
          assert.ok(refused.includes(provider.gateway.registration?.notes[0] ?? '-'))
          assert.match(refused, /\nquittance: .* — Check the API credentials/)
          const json = await run([command, '--json', '--nonsense'])
          assert.equal(json.code, 2)
        })
      }
    })
  }
})
