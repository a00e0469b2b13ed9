import type { Context } from 'hono'
import { accepts } from 'hono/accepts'
import { customerLocale } from '../../gateways/checkout-language.ts'
import { findLocale, matchLocale } from '../../kernel/locale.ts'
import type { Payment } from '../../payments/payment.ts'
import { languageOfCurrency, languages, type LanguageTag } from './languages/index.ts'
import { sayIn, type Say } from './languages/texts.ts'

/** The language of a page. */
export interface Language {
  readonly tag: LanguageTag
  readonly say: Say
  /** The query that keeps the next page in it, where it was chosen: `?lang=uk` or nothing. */
  readonly query: string
}

const tags = Object.keys(languages) as readonly LanguageTag[]

/** No browser sends more; each range costs time, and anybody can send thousands. */
const longestHeader = 256

/**
 * In which language a page is shown: that of its address (`?lang=uk`), that of the payment's
 * `customer.locale`, what the browser accepts, what the currency suggests. Anybody can write an
 * address or a header: they only choose among the languages that there are.
 */
export function languageFor(
  c: Context,
  payment?: Pick<Payment, 'customer' | 'currency'>,
): Language {
  const chosen = firstKnown([c.req.query('lang'), payment && customerLocale(payment)])
  const tag = chosen ?? acceptedTag(c) ?? languageOfCurrency[payment?.currency ?? ''] ?? 'en'
  return { tag, say: sayIn(languages[tag]), query: chosen === undefined ? '' : `?lang=${chosen}` }
}

function acceptedTag(c: Context): LanguageTag | undefined {
  if ((c.req.header('accept-language')?.length ?? 0) > longestHeader) return undefined
  const tag = accepts(c, {
    header: 'Accept-Language',
    supports: [...tags],
    default: '',
    // The best first; a q of 0 is a refusal.
    match: (ranges) => firstKnown(ranges.filter(({ q }) => q > 0).map(({ type }) => type)) ?? '',
  })
  return tags.find((one) => one === tag)
}

function firstKnown(wishes: readonly (string | Intl.Locale | undefined)[]) {
  return wishes
    .map((wish) => (typeof wish === 'string' ? findLocale(wish) : wish))
    .map((locale) => locale && matchLocale(locale, tags))
    .find((tag) => tag !== undefined)
}
