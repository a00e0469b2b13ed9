import type { CheckoutOperation } from '../operations.ts'

/** The payer pays or declines on a page of our own, which sends the callback. */
export const fakeCheckout = {
  kind: 'page',
  url: ({ origin, payment }) => `${origin}/billing/fake/checkout/${payment.id}`,
} as const satisfies CheckoutOperation
