import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startStandIn } from '../../../test/support/stand-in.ts'
import { within } from '../../kernel/within.ts'
import { createProviderApi } from './provider-api.ts'

test('nothing leaves once its time is over, although no timer has fired', async (t) => {
  const provider = await startStandIn(() => ({ body: {} }))
  t.after(() => provider.close())
  const api = createProviderApi({ title: 'Stripe', base: provider.base })
  let posted: Promise<unknown> | undefined
  const asked = within(
    60_000,
    () => new Error('late'),
    async (signal) => {
      t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 60_001 })
      posted = api.post('v1/refunds', { form: { charge: 'ch_1' }, signal })
      return posted
    },
  )
  await assert.rejects(asked, /late/)
  await assert.rejects(posted ?? Promise.resolve(), /late/)
  assert.deepEqual(provider.requests, [])
})
