import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/billing.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { runCommand, startService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What becomes of a new payment. */
const settles = {
  paid: 'paid',
  intent_paid: 'paid',
  async_paid: 'paid',
  async_failed: 'failed',
  expired: 'canceled',
  declined: 'failed',
  canceled: 'canceled',
  // What is about no new payment's charge is accepted, and leaves it alone.
  pending: 'pending',
  refunded: 'pending',
  refunded_half: 'pending',
  refunded_rest: 'pending',
  disputed: 'pending',
  card_saved: 'pending',
  card_removed: 'pending',
  setup: 'pending',
  renewed: 'pending',
} as const

test('send stripe: every callback that it lists is accepted and settles a payment if it is about one', async () => {
  using folder = temporaryFolder()
  const cwd = folder.path
  fillDataFolder(join(cwd, '.quittance'))
  const secret = { STRIPE_SIGNING_SECRET: 'whsec_0123456789abcdef0123456789abcdef' }
  const service = await startService({ cwd, env: secret })
  const env = { ...secret, PORT: new URL(service.url).port }
  const json = async <T>(...args: readonly string[]): Promise<T> => {
    const { code, stdout, stderr } = await runCommand([...args, '--json'], { cwd, env })
    assert.deepEqual([code, stderr], [0, []], args.join(' '))
    return JSON.parse(stdout.join('\n')) as T
  }
  const create = ['--gateway', 'stripe', '--amount', '4999', '--currency', 'UAH']
  try {
    assert.deepEqual(Object.keys(await json('send', 'stripe', '--list')), Object.keys(settles))
    for (const [scenario, status] of Object.entries(settles)) {
      const { id } = await json<{ id: string }>('payments', 'create', ...create, '--payable', 'o:1')
      const sent = await json('send', 'stripe', '--scenario', scenario, '--payment', id)
      assert.partialDeepStrictEqual(sent, { status: 200, payment_id: id }, scenario)
      const settled = async () =>
        (await json<{ status: string }>('payments', 'show', id)).status === status
      await until(settled, { what: `${scenario} makes a payment ${status}`, limitMs: 30_000 })
    }
  } finally {
    await service.stop()
  }
})
