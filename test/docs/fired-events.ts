import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { BillingEvent } from '../../src/events/catalogue.ts'
import type { CreateSubscriptionInput } from '../../src/money/subscription-input.ts'
import { rehearse, type Rehearsal } from '../../src/testing/index.ts'
import { refuse, startReceiver } from '../outbound/receiver.ts'
import { newPayment, openBilling, sendFake, until } from '../support/billing.ts'
import { embedded } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { refund } from '../support/statements.ts'
import { begun, openManaging, told } from '../subscriptions/managing.ts'

/**
 * Events as listeners get them, fired by the product itself: of every type, and under every kind of
 * key that a type can have.
 */
export async function firedEvents(): Promise<readonly BillingEvent[]> {
  const all = await Promise.all([
    eventsOfPayments(),
    eventsOfRehearsal(),
    eventsOfManaged(),
    eventsOfEndpoints(),
  ])
  return all.flat()
}

/** An endpoint answers that it is gone. */
async function eventsOfEndpoints(): Promise<readonly BillingEvent[]> {
  const heard: BillingEvent[] = []
  const encryptionKey = randomBytes(32).toString('base64')
  await using billing = await openBilling(embedded, { billing: { encryptionKey } })
  await using gone = await startReceiver(refuse(410))
  const { core } = billing
  const { secret } = await core.endpoints.create({ name: 'gone', url: gone.url })
  gone.secret = secret
  core.on('EndpointDisabled', 'hearing', (event, { afterCommit }) =>
    afterCommit(() => heard.push(event)),
  )
  await core.work()
  const { id } = await newPayment(core)
  await sendFake(core, id, 'success')
  await until(() => heard.length > 0, { what: 'the endpoint is disabled', limitMs: 60_000 })
  return heard
}

async function eventsOfPayments(): Promise<readonly BillingEvent[]> {
  const heard: BillingEvent[] = []
  await using stated = await openStated(embedded, {
    listen: ({ core }) => {
      for (const type of eventsHeard) {
        core.on(type, `hear${type}`, (event, { afterCommit }) =>
          afterCommit(() => heard.push(event)),
        )
      }
    },
  })
  const payment = await stated.createPaid()
  await stated.say(refund(payment, 're_1'))
  await stated.say({
    type: 'dispute',
    payment: { id: payment.id },
    reference: 'dp_1',
    status: 'open',
  })
  await stated.say({
    type: 'dispute',
    payment: { id: payment.id },
    reference: 'dp_1',
    status: 'won',
  })
  await stated.say({
    type: 'dispute',
    payment: { id: payment.id },
    reference: 'dp_2',
    status: 'lost',
  })
  for (const status of ['failed', 'canceled']) {
    const unpaid = await stated.create()
    await stated.say({ type: 'payment', payment: { id: unpaid.id }, status })
  }
  for (const account of [{}, { merchantAccount: 'acct_1' }]) {
    for (const status of ['attached', 'detached']) {
      await stated.say({ type: 'payment_method', status, reference: 'card_1', ...account })
    }
  }
  await openedPages(stated, payment.id)
  return heard
}

const eventsHeard = [
  'PaymentSucceeded',
  'PaymentFailed',
  'PaymentCanceled',
  'PaymentRefunded',
  'PaymentMethodAttached',
  'PaymentMethodDetached',
  'PaymentDisputed',
  'PaymentLinkOpened',
  'CheckoutReturned',
] as const

async function openedPages({ core }: StatedBilling, paymentId: string): Promise<void> {
  for (const type of ['PaymentLinkOpened', 'CheckoutReturned'] as const) {
    const payment = await core.payments.get(paymentId)
    assert.ok(payment)
    assert.ok(await core.payments.signal(type, payment))
  }
}

/** The lives of subscriptions that we charge, with all that can happen to them. */
async function eventsOfRehearsal(): Promise<readonly BillingEvent[]> {
  await using rehearsal = await rehearse({
    subscriptions: { graceAccess: false, retryDays: [1, 3] },
    invoices: { seller: { name: 'Shop' } },
  })
  const { billing } = rehearsal
  const good = await rehearsal.saveCard()
  const trial = await sell(rehearsal, { trialDays: 14, paymentMethodId: good.id })
  const stolen = await rehearsal.saveCard()
  stolen.behaves('hard', { after: 1 })
  await sell(rehearsal, { paymentMethodId: stolen.id })
  const removed = await rehearsal.saveCard()
  await sell(rehearsal, { paymentMethodId: removed.id })
  const replaced = await rehearsal.saveCard()
  replaced.behaves('soft', { after: 1 })
  const twice = await sell(rehearsal, { paymentMethodId: replaced.id })
  const using = await sell(rehearsal, { paymentMethodId: good.id, quotas: quotaOf(10) })
  await useUp(rehearsal, using, 'first')
  await billing.paymentMethods.remove(removed.id)
  await rehearsal.advance('31 days')
  await billing.subscriptions.change(twice, { paymentMethodId: null })
  await useUp(rehearsal, using, 'second')
  await billing.subscriptions.change(using, { quotas: quotaOf(20) })
  await useUp(rehearsal, using, 'third')
  await rehearsal.advance('20 days')
  await billing.subscriptions.pause(trial, { at: 'now' })
  await billing.subscriptions.resume(trial)
  await rehearsal.advance('2 months')
  return rehearsal.events.all
}

/** Of each month that is paid. */
const quotaOf = (limit: number) => ({ api_calls: { limit } })

async function useUp(
  { billing, catchUp }: Rehearsal,
  subscriptionId: string,
  key: string,
): Promise<void> {
  await catchUp()
  await billing.usage.record({ subscriptionId, quota: 'api_calls', units: 10, key })
}

/** A subscription that its provider has begun. */
async function eventsOfManaged(): Promise<readonly BillingEvent[]> {
  const managing = await openManaging(embedded)
  await begun(managing, 'sub_1')
  await told(managing, 'SubscriptionRenewed')
  await managing.billing.close()
  return managing.heard
}

async function sell(
  { billing }: Rehearsal,
  fields: Partial<CreateSubscriptionInput>,
): Promise<string> {
  const { subscription } = await billing.subscriptions.create({
    gateway: 'fake',
    payable: { type: 'account', id: '7' },
    amount: 19900,
    currency: 'UAH',
    every: 'month',
    ...fields,
  })
  return subscription.id
}
