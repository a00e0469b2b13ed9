import type { Money } from '../../kernel/money.ts'

/** https://developer.paddle.com/concepts/sell/supported-currencies */
const currencies = readCodes(
  'ARS AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD ILS INR JPY KRW MXN NOK NZD PEN PLN RUB SEK SGD ' +
    'THB TRY UAH USD ZAR',
)

/**
 * Providers count these in other units than ISO 4217 says, or not, and Paddle tells its own only
 * by its API. Wrong by a hundred times, an amount would come back as it was sent.
 */
const unitsUnknown = readCodes('CLP COP HUF TWD VND')

/** Paddle has a lowest charge as well, about 0.70 USD: it says so itself. */
export function moneyFault({ currency }: Money): string | undefined {
  if (unitsUnknown.has(currency)) return `the unit in which Paddle counts ${currency} is not known`
  return currencies.has(currency) ? undefined : `Paddle does not take ${currency}`
}

function readCodes(codes: string): ReadonlySet<string> {
  return new Set(codes.split(' '))
}
