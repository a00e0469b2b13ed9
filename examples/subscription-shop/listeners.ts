// What follows from the events of subscriptions.
import { isQuittanceError } from 'quittance'
import { billing } from './billing.ts'
import { day, price } from './magazine.ts'

// Access is set by what the reader has, never by the event's name or its subscription alone: a reader
// who changes plans has two for a while.
billing.on(
  [
    'SubscriptionCreated',
    'SubscriptionRenewed',
    'SubscriptionAccessSuspended',
    'SubscriptionPaused',
    'SubscriptionResumed',
    'SubscriptionCancelled',
  ],
  'followAccess',
  async ({ subscription: { payable } }, context) => {
    if (payable.type !== 'reader') return
    // Locked before it is asked: of two at the same time, the later one sees what both have done.
    await context.tx.query('select from readers where id = $1 for update', [payable.id])
    const access = await context.billing.subscriptions.access(payable)
    await context.tx.query('update readers set access = $1 where id = $2', [access, payable.id])
  },
)

// Mails go after the commit, and again until that succeeds.
billing.on(
  'SubscriptionRenewed',
  'sendReceipt',
  ({ subscription: { payable }, period, previousStatus }) => {
    if (payable.type !== 'reader') return
    const subject = previousStatus === 'incomplete' ? 'Welcome' : 'Your receipt'
    console.log(`mail to ${payable.id}: ${subject}, ${price(period)}, until ${day(period.endsAt)}`)
  },
  { queued: true },
)

billing.on(
  'SubscriptionPaymentFailed',
  'askForPayment',
  ({ subscription: { payable }, period, payUrl }) => {
    if (payable.type !== 'reader') return
    // Null: it was paid meanwhile.
    if (payUrl !== null) console.log(`mail to ${payable.id}: please pay ${price(period)} ${payUrl}`)
  },
  { queued: true },
)

billing.on(
  ['TrialWillEnd', 'SubscriptionCancelled'],
  'sayWhatEnds',
  ({ type, subscription: { payable } }) => {
    if (payable.type !== 'reader') return
    console.log(`mail to ${payable.id}: ${type === 'TrialWillEnd' ? 'your trial ends' : 'bye'}`)
  },
  { queued: true },
)

// Of each check: a card that was saved before is attached to nothing anew.
billing.on(
  'PaymentSucceeded',
  'giveBackCardCheck',
  async ({ id, payment }) => {
    // Runs this twice, it is one refund: its id is the event's.
    if (payment.payable.type === 'card') await billing.refunds.create(payment.id, { id })
  },
  { queued: true },
)

billing.on(
  'PaymentMethodAttached',
  'useNewCard',
  async ({ paymentMethod: { id, paymentId } }) => {
    const payment = await billing.payments.find(paymentId ?? '')
    // A card that paid for a period is charged for the next ones already.
    if (payment?.payable.type !== 'card') return
    try {
      await billing.subscriptions.change(payment.payable.id, { paymentMethodId: id })
    } catch (error) {
      if (!isQuittanceError(error) || error.code !== 'subscription_ended') throw error
    }
  },
  { queued: true },
)
