import type { BrowserPage, BrowserPageContent } from '../../browser-page.ts'
import { isId } from '../payload.ts'
import { libraryUrl, overlayStyle, policyFor } from './policy.ts'
import { checkoutScript } from './script.ts'

/**
 * The page that opens the checkout of a transaction. Paddle has none of its own: it sends payers to
 * a page of the merchant's with `?_ptxn=txn_...`, and Paddle.js takes over there.
 * https://developer.paddle.com/build/transactions/default-payment-link
 */
export const paddleCheckoutPage: BrowserPage = {
  path: 'checkout',
  script: checkoutScript,
  content(query, { settings }) {
    const token = settings['client_token']
    const transaction = query.get('_ptxn')
    if (!isId(transaction, 'txn_')) return wrongAddress
    return token === undefined || token === '' ? noToken : checkoutOf(transaction, token)
  },
}

const wrongAddress: BrowserPageContent = {
  status: 400,
  heading: 'This link is not complete',
  texts: ['It names no payment. Please open the payment link again.'],
}

const noToken: BrowserPageContent = {
  status: 503,
  heading: 'Checkout not set up',
  texts: [
    'This payment cannot be made here yet. Please tell the shop.',
    'For the shop: set PADDLE_CLIENT_TOKEN to a client-side token of your Paddle account.',
  ],
}

function checkoutOf(transaction: string, token: string): BrowserPageContent {
  const environment = token.startsWith('test_') ? 'sandbox' : 'live'
  return {
    status: 200,
    heading: 'Checkout',
    texts: ['Opening the checkout…'],
    active: {
      data: { token, transaction },
      sources: [libraryUrl],
      button: 'Open the checkout again',
      style: overlayStyle,
      policy: policyFor(environment),
    },
  }
}
