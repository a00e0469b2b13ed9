import type { Money } from '../../kernel/money.ts'

/** https://developer.paddle.com/concepts/sell/supported-currencies */
const currencies = readCodes(
  'ARS AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD ILS INR JPY KRW MXN NOK NZD PEN PLN RUB SEK SGD ' +
    'THB TRY UAH USD ZAR',
)

/**
 * Some providers count these as ISO 4217 says, others do not, and Paddle states its own units only
 * in its API. An amount that is wrong by a factor of a hundred would come back as it was sent.
 */
const unitsUnknown = readCodes('CLP COP HUF TWD VND')

/** Paddle also has a lowest charge, about 0.70 USD, and enforces it itself. */
export function moneyFault({ currency }: Money): string | undefined {
  if (unitsUnknown.has(currency)) return `the unit in which Paddle counts ${currency} is not known`
  return currencies.has(currency) ? undefined : `Paddle does not take ${currency}`
}

function readCodes(codes: string): ReadonlySet<string> {
  return new Set(codes.split(' '))
}
