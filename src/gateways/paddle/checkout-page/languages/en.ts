/** What the page says, in English. The other languages have the same keys. */
export const en = {
  wrongHeading: 'This link is not complete',
  wrongText: 'It names no payment. Please open the payment link again.',
  unsetHeading: 'Checkout not set up',
  unsetText: 'This payment cannot be made here yet. Please tell the shop.',
  unsetFix: 'For the shop: set PADDLE_CLIENT_TOKEN to a client-side token of your Paddle account.',
  heading: 'Checkout',
  opening: 'Opening the checkout…',
  open: 'The checkout is open.',
  completed: 'Thank you. You can close this page.',
  closed: 'The checkout was closed.',
  failed: 'The checkout could not be opened.',
  unloaded: 'The checkout could not be loaded.',
  again: 'Open the checkout again',
} as const

export type Texts = Readonly<Record<keyof typeof en, string>>
