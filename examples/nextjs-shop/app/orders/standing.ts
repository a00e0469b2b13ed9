import type { Order } from '../../lib/orders'

/** How an order stands, in a word or two. */
export function standing({ state, refunded }: Order): string {
  if (state === 'new') return 'Not paid'
  if (state === 'taken back') return 'Refunded'
  return refunded > 0 ? 'Partly refunded' : 'Paid'
}
