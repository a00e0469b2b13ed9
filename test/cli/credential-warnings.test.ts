import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deployOpen, type Deployment } from '../support/deployment.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'

const weak = { STRIPE_SIGNING_SECRET: 'whsec_short', PADDLE_SIGNING_SECRET: 'pdl_short' }
const warned = /(STRIPE|PADDLE)_SIGNING_SECRET of gateway \w+ is shorter than 16 characters/

/** The gateways that the lines warn about. */
function gatewaysIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => warned.exec(line)?.[1]?.toLowerCase() ?? [])
}

onPostgres((engine) => {
  let deployment: Deployment
  let service: LocalService
  let options: Pick<Deployment, 'cwd' | 'env'>
  before(async () => {
    deployment = await deployOpen(engine)
    options = { cwd: deployment.cwd, env: { ...deployment.env, ...weak } }
    service = await startLocalService(options)
  })
  after(async () => {
    await service.stop()
    await deployment.remove()
  })

  async function run(args: string): Promise<readonly string[]> {
    const env = { ...options.env, PORT: new URL(service.url).port }
    const { code, stderr } = await runHosted(args.split(' '), { ...options, env })
    assert.equal(code, 0, stderr.join('\n'))
    return gatewaysIn(stderr)
  }

  test('weak credentials are mentioned where they matter: by the service and by gateways', async () => {
    assert.deepEqual(gatewaysIn(service.stderr), ['stripe', 'paddle'])
    assert.deepEqual(await run('gateways'), ['stripe', 'paddle'])
  })

  test('a command mentions those of its gateway, and of no other', async () => {
    const money = '--amount 100 --currency UAH --payable order:1 --no-checkout'
    assert.deepEqual(await run(`payments create --gateway stripe ${money}`), ['stripe'])
    assert.deepEqual(await run('send stripe'), ['stripe'])
    assert.deepEqual(await run(`payments create --gateway fake ${money}`), [])
  })

  test('a command that only looks mentions none', async () => {
    for (const args of ['payments list', 'calls list', 'send stripe --list']) {
      assert.deepEqual(await run(args), [], args)
    }
  })
})
