import type { DisabledReason, ForwardState } from '../../events/endpoint.ts'
import type { SendResult } from '../../outbound/send.ts'
import { shown } from '../parts/shown.ts'

/** What became of a request to an endpoint, and what to look at where it failed. */
const resultWords: Readonly<Record<SendResult, string>> = {
  delivered: 'It was taken.',
  gone: 'It answered 410: nobody is there any more.',
  overloaded: 'It asked to wait.',
  redirected: 'It leads elsewhere; redirects are not followed. Correct the URL.',
  rejected: 'It refused. Its own log says why.',
  timed_out: 'No answer in time. It must answer first and work later.',
  not_connected: 'No connection: it is down, or a firewall is between.',
  name_unknown: 'Its name has no address. Look at the URL and the DNS.',
  address_refused: 'The URL is not allowed: it is no public address. See forward.allow.',
  tls_failed: 'Its certificate is not valid for this name.',
  reply_invalid: 'What answered speaks no HTTP.',
}

/** A newer version may have written another result. */
export function sendResultText(result: string): string {
  const known = Object.entries(resultWords).find(([name]) => name === result)
  return known?.[1] ?? shown(result)
}

export const disabledWords: Readonly<Record<DisabledReason, string>> = {
  operator: 'Somebody disabled it.',
  gone: 'It answered 410 Gone. Enable it once its app is back.',
  failing: 'It has failed for days. Enable it once its app is mended.',
}

export const forwardWords: Readonly<Record<ForwardState, string>> = {
  pending: 'It is sent again by itself.',
  delivered: 'It got there.',
  failed: 'It is not sent again by itself. Resend it once the endpoint is mended.',
}
