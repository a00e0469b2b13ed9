import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripe } from '../../src/gateways/stripe/index.ts'
import { QuittanceError } from '../../src/kernel/errors.ts'
import { contextFor, failureOf, requestsOf } from './kit.ts'

const failing = (message: string) =>
  Promise.reject(new QuittanceError('provider_refused', message, { providerCode: 'no' }))

test('an error that shows the beginning of a secret fails the test, whoever was given it', async () => {
  contextFor(stripe, { signing_secret: 'whsec_of_this_test', secret_key: 'sk_live_of_this_test' })
  requestsOf({ gateway: 'stripe' }).chargeOf('card_token_of_this_test')
  const said = { code: 'provider_refused', providerCode: 'no' }
  assert.deepEqual(await failureOf(failing('it said no')), said)
  for (const text of ['whsec_of', 'it has sk_live_', 'no card_tok...']) {
    await assert.rejects(failureOf(failing(text)), /a secret is shown/)
  }
})

test('what did not fail as our errors do is no failure', async () => {
  await assert.rejects(failureOf(Promise.resolve('paid')), /should have failed, but gave "paid"/)
  await assert.rejects(failureOf(Promise.reject(new TypeError('x'))), TypeError)
})
