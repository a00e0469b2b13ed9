/** The longest tag that anybody writes by hand; BCP 47 itself sets no limit. */
const longestTag = 100

/** A language tag of BCP 47 (`uk`, `en-GB`); undefined for everything else. */
export function findLocale(value: unknown): Intl.Locale | undefined {
  if (typeof value !== 'string' || value.length > longestTag) return undefined
  try {
    return new Intl.Locale(value)
  } catch {
    return undefined
  }
}

/**
 * The one of these tags that suits a reader of the locale best: the same, that of its language and
 * region, that of its language alone. Undefined: none of them does.
 */
export function matchLocale<const T extends string>(
  locale: Intl.Locale,
  tags: readonly T[],
): T | undefined {
  // `zh-Hant` is read in Taiwan, so `zh-TW` suits it and `zh` does not come first.
  const { language, region } = locale.maximize()
  const wanted = [locale.baseName, `${language}-${region}`, language]
  return wanted.map((tag) => tags.find((one) => one === tag)).find((tag) => tag !== undefined)
}
