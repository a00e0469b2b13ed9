import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestsTo, startProviderFor } from '../../../test/gateways/paddle/operations.ts'
import { methodOf } from '../../../test/providers/kit.ts'
import { removeSavedCard } from './remove-saved-card.ts'

const customer = 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4'
const card = 'paymtd_01hs8zx6x377xfsfrt2bqsevbw'
const saved = (ids: {
  readonly customerReference: string | null
  readonly providerReference: string
}) => ({
  method: methodOf('paddle', ids),
  token: null,
})
const request = saved({ customerReference: customer, providerReference: card })

test('a card is deleted of its customer; gone already, it is no error', async (t) => {
  const { provider, context } = await startProviderFor(t)
  await removeSavedCard(request, context)
  await removeSavedCard(request, context)
  const asked = `DELETE /customers/${customer}/payment-methods/${card}`
  assert.deepEqual(requestsTo(provider), [asked, asked])
  assert.ok(provider.account.removed.has(card))
})

test('what is no card of Paddle’s, or of nobody, is not asked for', async (t) => {
  const { provider, context } = await startProviderFor(t)
  await removeSavedCard(saved({ customerReference: null, providerReference: card }), context)
  await removeSavedCard(saved({ customerReference: customer, providerReference: 'pm_1' }), context)
  assert.deepEqual(requestsTo(provider), [])
})
