import type { BrowserPageContent } from '../../browser-page.ts'

type Policy = NonNullable<BrowserPageContent['active']>['policy']

const library = 'https://cdn.paddle.com'

/**
 * What Paddle.js loads. Paddle documents no list: these are the addresses that the library knows as
 * its own, for one environment. Its tracking (Retain) is left out, because paying does not need it.
 */
export function policyFor(environment: 'live' | 'sandbox'): Policy {
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
export const libraryUrl = `${library}/paddle/v2/paddle.js`

/**
 * The position of the overlay, in case Paddle.js sets it by an inline style, which our policy
 * forbids.
 */
export const overlayStyle = `
.paddle-frame-overlay { position: fixed; inset: 0; z-index: 2147483647; width: 100%; height: 100%;
  border: 0 }
`
