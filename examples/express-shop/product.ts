/** What is sold, in minor units. Prices are the shop's: they never come from a form. */
export const product = {
  name: 'The Complete Guide to Receipts',
  about: 'Three hundred pages on small slips of paper, with an index of totals.',
  /** With the shipping. */
  amount: 1999,
  shipping: 500,
  currency: 'USD',
} as const

/** As people write it. */
export function price(amount: number): string {
  return new Intl.NumberFormat('en', { style: 'currency', currency: product.currency }).format(
    amount / 100,
  )
}
