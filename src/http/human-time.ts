/** A time for people, in their language and this machine's time zone, which is named. */
export function humanTime(time: Date, language: string): string {
  return new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(time)
}

/** A day for people, in their language, as it is in a time zone. */
export function humanDate(time: Date, language: string, timeZone: string): string {
  return days(language, timeZone).format(time)
}

/** From one day to another. */
export function humanDates(
  [from, to]: readonly [Date, Date],
  language: string,
  timeZone: string,
): string {
  return days(language, timeZone).formatRange(from, to)
}

/** A number of days, weeks, months or years. */
export function humanLength(
  { unit, count }: { readonly unit: 'day' | 'week' | 'month' | 'year'; readonly count: number },
  language: string,
): string {
  const format = { style: 'unit', unit, unitDisplay: 'long' } as const
  return new Intl.NumberFormat(language, format).format(count)
}

function days(language: string, timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(language, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone,
  })
}
