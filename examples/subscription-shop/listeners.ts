// What follows from the events of subscriptions. The database remembers the names.
import { defineListeners, isQuittanceError } from 'quittance'
import { day, price } from './magazine.ts'

export const listeners = defineListeners({
  // Access is set by what the reader has, never by the event's name or its subscription alone: a
  // reader who changes plans has two for a while.
  followAccess: {
    on: [
      'SubscriptionCreated',
      'SubscriptionRenewed',
      'SubscriptionAccessSuspended',
      'SubscriptionPaused',
      'SubscriptionResumed',
      'SubscriptionCancelled',
    ],
    run: async ({ subscription: { payable } }, { tx, billing }) => {
      if (payable.type !== 'reader') return
      // Locked before it is asked: of two at the same time, the later one sees what both have done.
      await tx.query('select from readers where id = $1 for update', [payable.id])
      const access = await billing.subscriptions.access(payable)
      await tx.query('update readers set access = $1 where id = $2', [access, payable.id])
    },
  },

  // Mails go after the commit, and again until that succeeds.
  sendReceipt: {
    on: 'SubscriptionRenewed',
    queued: true,
    run: ({ subscription: { payable }, period, previousStatus }) => {
      if (payable.type !== 'reader') return
      const subject = previousStatus === 'incomplete' ? 'Welcome' : 'Your receipt'
      const until = day(period.endsAt)
      console.log(`mail to ${payable.id}: ${subject}, ${price(period)}, until ${until}`)
    },
  },

  askForPayment: {
    on: 'SubscriptionPaymentFailed',
    queued: true,
    run: ({ subscription: { payable }, period, payUrl }) => {
      // Without a URL: it was paid meanwhile.
      if (payable.type !== 'reader' || payUrl === null) return
      console.log(`mail to ${payable.id}: please pay ${price(period)} ${payUrl}`)
    },
  },

  sayWhatEnds: {
    on: ['TrialWillEnd', 'SubscriptionCancelled'],
    queued: true,
    run: ({ type, subscription: { payable } }) => {
      if (payable.type !== 'reader') return
      console.log(`mail to ${payable.id}: ${type === 'TrialWillEnd' ? 'your trial ends' : 'bye'}`)
    },
  },

  // Every check is refunded: a card that was saved before fires no event of its own.
  giveBackCardCheck: {
    on: 'PaymentSucceeded',
    queued: true,
    run: async ({ id, payment }, { billing }) => {
      // Runs this twice, it is one refund: its id is the event's.
      if (payment.payable.type === 'card') await billing.refunds.create(payment.id, { id })
    },
  },

  useNewCard: {
    on: 'PaymentMethodAttached',
    queued: true,
    run: async ({ paymentMethod: { id, paymentId } }, { billing }) => {
      const payment = await billing.payments.find(paymentId ?? '')
      // A card that paid for a period is charged for the next ones already.
      if (payment?.payable.type !== 'card') return
      try {
        await billing.subscriptions.change(payment.payable.id, { paymentMethodId: id })
      } catch (error) {
        if (!isQuittanceError(error) || error.code !== 'subscription_ended') throw error
      }
    },
  },
})
