import type { Addresses } from '../checkout/checkout-request.ts'
import type { MoneyContext } from '../money/context.ts'
import type { Parts } from './parts.ts'
import type { ServiceSettings, Settings } from './settings.ts'

/** Where providers and payers are sent; a callback URL follows the configured path and origin. */
export function addressesOf({ origin, webhookPaths }: Settings): Addresses {
  return {
    origin,
    callbackUrl: (gateway) => origin + webhookPaths[0].replace('{gateway}', gateway),
  }
}

/** What operations on payments need. */
export function moneyContextOf(
  { processing, queue }: Pick<Parts, 'processing' | 'queue'>,
  settings: ServiceSettings,
): MoneyContext {
  return {
    processing,
    addresses: addressesOf(settings),
    isAllowedReturn: settings.isAllowedReturn,
    searchedMetadata: settings.searchedMetadata,
    queue: settings.queue,
    connection: queue,
    answerWithin: settings.answerWithin,
    now: settings.clock,
  }
}
