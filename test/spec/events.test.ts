import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { eventTypes } from '../../src/events/catalogue.ts'

const table = [
  'PaymentSucceeded',
  'PaymentFailed',
  'PaymentCanceled',
  'PaymentRefunded',
  'PaymentMethodAttached',
  'PaymentMethodDetached',
  'SubscriptionCreated',
  'SubscriptionRenewed',
  'SubscriptionPaymentFailed',
  'SubscriptionAccessSuspended',
  'SubscriptionCancelled',
  'SubscriptionPaused',
  'SubscriptionResumed',
  'TrialWillEnd',
  'TrialEnded',
  'SubscriptionPeriodEnding',
  'SubscriptionQuotaReset',
  'UsageLimitReached',
  'InvoiceIssued',
  'InvoicePaid',
  'CheckoutReturned',
  'PaymentLinkOpened',
] as const

test('Events: the catalogue begins with the 22 events of the specification, in its spelling', () => {
  assert.deepEqual(eventTypes.slice(0, table.length), table)
})

for (const type of eventTypes) {
  test(`Events: ${type} takes listeners, in the transaction and queued`, async () => {
    const core = createCore({ listeners: { fromOptions: { on: [type], run: () => {} } } })
    core.on(type, 'direct', () => {})
    core.on(type, 'queued', () => {}, { queued: true })
    assert.throws(() => core.on(type, 'direct', () => {}), { code: 'listener_duplicate' })
    await core.close()
  })
}

test('Events: a name that is none of them is refused', () => {
  for (const name of ['PaymentPaid', 'paymentSucceeded', 'SubscriptionCanceled', '__proto__x']) {
    const on = name as 'PaymentSucceeded'
    const unknown = {
      code: 'event_type_unknown',
      message: new RegExp(`there is no event ${name}$`),
    }
    assert.throws(() => createCore({ listeners: { any: { on, run: () => {} } } }), unknown)
    assert.throws(() => createCore().on(['PaymentFailed', on], 'any', () => {}), unknown)
  }
})
