import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { providerEnvironment } from '../money/provider-environment.ts'
import { startStripe, type StripeStandIn } from '../providers/stripe.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deployOpen, finished, type OpenDeployment } from '../support/deployment.ts'
import { startLocalService } from '../support/local-service.ts'

onPostgres((engine) => {
  let deployment: OpenDeployment
  let provider: StripeStandIn
  let env: Record<string, string>
  let id: string
  const run = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runHosted(args, { cwd: deployment.cwd, env: { ...env, ...more } })
  const order = ['--gateway', 'stripe', '--amount', '1999', '--currency', 'UAH']

  before(async () => {
    provider = await startStripe({ mostPerPage: 1 })
    deployment = await deployOpen(engine)
    env = { ...deployment.env, ...providerEnvironment(provider) }
    const created = ['payments', 'create', ...order, '--payable', 'order:42', '--json']
    const { code, stdout, stderr } = await run(created)
    assert.equal(code, 0, stderr.join('\n'))
    ;({ id } = JSON.parse(stdout.join('\n')) as { readonly id: string })
    provider.pay(id)
  })
  after(async () => {
    await deployment.remove()
    await provider.close()
  })

  test('stores what never arrived, says who processes it, and does nothing twice', async () => {
    const first = await run(['backfill', '--gateway', 'alpha', '--since', '2h'])
    assert.deepEqual([first.code, first.stderr], [0, []])
    const [line, next] = first.stdout
    const { length } = provider.events
    assert.equal(line, `${length} events are listed: ${length} new and stored, 0 known already.`)
    assert.match(next ?? '', /running service or worker/)
    const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)
    const args = ['billing:backfill', '--gateway', 'stripe', '--since', day]
    const { code, stdout } = await run([...args, '--json'])
    assert.equal(code, 0)
    assert.deepEqual(JSON.parse(stdout.join('\n')), { listed: length, stored: 0, known: length })
    assert.deepEqual((await run(args)).stdout, [
      `${length} events are listed: 0 new and stored, ${length} known already.`,
    ])
    const worker = await startLocalService({ cwd: deployment.cwd, env })
    await finished(deployment.database)
    await worker.stop()
    const shown = JSON.parse((await run(['payments', 'show', id, '--json'])).stdout.join('\n')) as {
      readonly status: string
      readonly events: readonly { readonly type: string }[]
    }
    assert.equal(shown.status, 'paid')
    assert.deepEqual(
      shown.events.map(({ type }) => type),
      ['PaymentSucceeded'],
    )
  })

  test('shows on a terminal which part of the time has been read', async () => {
    provider.paySlowly(id)
    provider.pay(id)
    provider.misbehave('events', 'late', 'late')
    const args = ['backfill', '--gateway', 'stripe', '--since', '5m']
    const { code, stdout, stderr } = await runHosted(args, {
      cwd: deployment.cwd,
      env: { ...env, TERM: 'xterm-256color' },
      terminal: { columns: 80 },
    })
    assert.equal(code, 0, stderr.join('\n'))
    assert.match(stderr.join('\n'), /read \d+ %/)
    assert.match(stdout[0] ?? '', /^\d+ events are listed/)
  })

  test('failures say what to do', async () => {
    const failure = async (
      args: readonly string[],
      more: Readonly<Record<string, string>> = {},
    ) => {
      const { code, stdout, stderr } = await run(['backfill', ...args], more)
      assert.deepEqual(stdout, [])
      return `${code} ${stderr.join('\n')}`
    }
    const rows = [
      [['--gateway', 'stripe'], /^2 .*--since/],
      [['--since', '2h'], /^2 .*--gateway/],
      [['--gateway', 'stripe', '--since', 'yesterday'], /^2 .*such as 90m, 24h or 7d/],
      [['--gateway', 'stripe', '--since', '40d'], /^1 .*since \d{4}-.* — Give a later --since/],
      [['--gateway', 'fake', '--since', '2h'], /^1 .* — Use another gateway/],
      [['--gateway', 'nowhere', '--since', '2h'], /^1 .*gateway "nowhere" is not registered/],
    ] as const
    for (const [args, pattern] of rows) assert.match(await failure(args), pattern)
    const args = ['--gateway', 'stripe', '--since', '2h']
    assert.match(await failure(args, { STRIPE_SECRET_KEY: '' }), /^1 .* — Set STRIPE_SECRET_KEY\.$/)
    const unsigned = await failure(args, { STRIPE_SIGNING_SECRET: '' })
    assert.match(unsigned, /^1 .*stripe is not configured: it needs .* — Set the credentials/)
    provider.misbehave('events', 'refuse')
    assert.match(await failure(args), /^1 .* — Check the API credentials/)
  })

  test('a gateway without a key tells a person at a shell of --no-checkout', async () => {
    const args = ['payments', 'create', ...order, '--payable', 'order:43']
    for (const missing of ['STRIPE_SECRET_KEY', 'STRIPE_SIGNING_SECRET']) {
      const { code, stderr } = await run(args, { [missing]: '' })
      assert.equal(code, 1)
      assert.match(stderr.join('\n'), /--no-checkout\) if it begins elsewhere\.$/)
    }
  })
})
