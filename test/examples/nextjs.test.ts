import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Billing } from 'quittance'
import { createCore } from '../../src/billing/create-core.ts'
import { signingSecret } from '../support/stripe-callbacks.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { settlesOnce } from './example.ts'

const folder = temporaryFolder()
const dataDir = `${folder.path}/data`
fillDataFolder(dataDir)
const before = { ...process.env }
process.env['BILLING_DATA_DIR'] = dataDir
process.env['STRIPE_SIGNING_SECRET'] = signingSecret
process.env['NEXT_RUNTIME'] = 'nodejs'
after(() => {
  process.env = before
  folder.remove()
})

interface Library {
  getBilling(): Promise<Billing>
}

test('the Next.js example opens one billing over reloads, which settles a callback once', async (t) => {
  const printed = t.mock.method(console, 'log', () => {})
  const refused = t.mock.method(process.stderr, 'write', () => true)
  const route = await import('../../examples/nextjs/app/billing/[...path]/route.ts')
  const instrumentation = await import('../../examples/nextjs/instrumentation.ts')
  const library = '../../examples/nextjs/lib/billing.ts'
  const loaded = (await import(library)) as Library
  const reloaded = (await import(`${library}?changed`)) as Library

  await instrumentation.register()
  const billing = await loaded.getBilling()
  assert.notEqual(loaded, reloaded)
  assert.equal(await reloaded.getBilling(), billing)

  const core = createCore({ database: { dataDir, attach: true } })
  await settlesOnce(core, 'http://localhost:3000', route.POST)
  await core.close()
  await billing.close()
  assert.deepEqual(
    printed.mock.calls.map((call) => call.arguments),
    [['paid: order 42']],
  )
  assert.equal(refused.mock.callCount(), 1)
})
