import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runHosted } from '../support/command-host.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService, type RunningService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder()
const cwd = folder.path
const env = { STRIPE_SIGNING_SECRET: 'whsec_short', PADDLE_SIGNING_SECRET: 'pdl_short' }
let service: RunningService
before(async () => {
  fillDataFolder(join(cwd, '.quittance'))
  service = await startService({ cwd, env })
})
after(async () => {
  await service.stop()
  folder.remove()
})

const warned = /(STRIPE|PADDLE)_SIGNING_SECRET of gateway \w+ is shorter than 16 characters/

/** The gateways that the lines warn about. */
function gatewaysIn(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line) => warned.exec(line)?.[1]?.toLowerCase() ?? [])
}

async function run(args: string): Promise<readonly string[]> {
  const { code, stderr } = await runHosted(args.split(' '), {
    cwd,
    env: { ...env, PORT: new URL(service.url).port },
  })
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
