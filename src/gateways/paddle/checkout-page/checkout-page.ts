import type { BrowserPage, BrowserPageContent } from '../../browser-page.ts'
import { isId } from '../payload.ts'
import { en, type Texts } from './languages/en.ts'
import { uk } from './languages/uk.ts'
import { checkoutScript } from './script.ts'

const languages: ReadonlyMap<string, Texts> = new Map([
  ['en', en],
  ['uk', uk],
])

/**
 * The page that opens the checkout of a transaction. Paddle has none of its own: it sends payers to
 * a page of the merchant's with `?_ptxn=txn_...`, and Paddle.js takes over there.
 * https://developer.paddle.com/build/transactions/default-payment-link
 */
export const paddleCheckoutPage: BrowserPage = {
  path: 'checkout',
  script: checkoutScript,
  content(query, { settings }, asked) {
    const language = languages.has(asked) ? asked : 'en'
    const texts = languages.get(language) ?? en
    return { language, ...contentIn(texts, query.get('_ptxn'), settings['client_token']) }
  },
}

function contentIn(
  texts: Texts,
  transaction: string | null,
  token: string | undefined,
): BrowserPageContent {
  if (!isId(transaction, 'txn_')) {
    return { status: 400, heading: texts.wrongHeading, texts: [texts.wrongText] }
  }
  if (token === undefined || token === '') {
    return { status: 503, heading: texts.unsetHeading, texts: [texts.unsetText, texts.unsetFix] }
  }
  const { heading, opening, open, completed, closed, failed, unloaded, again } = texts
  return {
    status: 200,
    heading,
    texts: [opening],
    active: {
      data: { token, transaction, opening, open, completed, closed, failed, unloaded },
      sources: [libraryUrl],
      button: again,
      style: overlayStyle,
      policy: policyFor(token.startsWith('test_') ? 'sandbox' : 'live'),
    },
  }
}

type Policy = NonNullable<BrowserPageContent['active']>['policy']

const library = 'https://cdn.paddle.com'

/**
 * What Paddle.js loads. Paddle documents no list: these are the addresses that the library knows as
 * its own, for one environment. Its tracking (Retain) is left out, because paying does not need it.
 */
function policyFor(environment: 'live' | 'sandbox'): Policy {
  const at = (name: string) =>
    `https://${environment === 'sandbox' ? 'sandbox-' : ''}${name}.paddle.com`
  const files = environment === 'sandbox' ? [library, at('cdn')] : [library]
  return {
    'script-src': [library],
    'style-src': files,
    'img-src': files,
    'connect-src': [at('api'), at('buy'), at('create-checkout'), at('checkout-service')],
    'frame-src': [at('buy'), at('create-checkout'), ...files],
  }
}

/** Paddle requires this address: https://developer.paddle.com/paddle-js/about/include-paddlejs */
const libraryUrl = `${library}/paddle/v2/paddle.js`

/**
 * The position of the overlay, in case Paddle.js sets it by an inline style, which our policy
 * forbids.
 */
const overlayStyle = `
.paddle-frame-overlay { position: fixed; inset: 0; z-index: 2147483647; width: 100%; height: 100%;
  border: 0 }
`
