/** What is sold. The price is the shop's: it never comes from a form. */
export const product = {
  name: 'The Complete Guide to Receipts',
  price: '$19.99',
  amount: 1999n,
  currency: 'USD',
} as const
