import { defineListeners } from 'quittance'
import { price } from './product.ts'

/** What the shop does when money moves. The database remembers the names. */
export const listeners = defineListeners({
  // In the transaction in which the payment becomes paid: the order is granted exactly if it is.
  grantOrder: {
    on: 'PaymentSucceeded',
    run: async ({ payment }, { tx }) => {
      if (payment.payable.type !== 'order') return
      const grant = "update orders set state = 'granted' where id = $1 and state = 'new'"
      await tx.query(grant, [payment.payable.id])
    },
  },

  // After the commit, and again until it succeeds: a mail that fails holds nothing up.
  sendReceipt: {
    on: 'PaymentSucceeded',
    queued: true,
    run: ({ payment }, { idempotencyKey }) => {
      if (payment.payable.type !== 'order') return
      // Your mail service would get the key as well: with it, a second attempt sends nothing.
      const amount = price(Number(payment.amount))
      console.log(`receipt to ${String(payment.customer?.email)}: ${amount} (${idempotencyKey})`)
    },
  },

  // Part of the money back: the reader keeps the book. All of it: the order is taken back.
  countRefund: {
    on: 'PaymentRefunded',
    run: async ({ payment: refund }, { tx }) => {
      if (refund.payable.type !== 'order') return
      await tx.query(
        `update orders set refunded = refunded + $1,
           state = case when refunded + $1 >= amount then 'taken back' else state end
         where id = $2`,
        [refund.amount, refund.payable.id],
      )
    },
  },
})
