// lib/listeners.ts
import { defineListeners } from 'quittance'

/** What runs when something happens. The database remembers the names, so keep them. */
export const listeners = defineListeners({
  grantAccess: {
    on: 'PaymentSucceeded',
    run: ({ payment: { payable } }) => {
      // The charge of a subscription is a payment, too.
      if (payable.type === 'order') console.log(`paid: order ${payable.id}`)
    },
  },
})
