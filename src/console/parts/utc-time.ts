const typed = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/

/** What a field of a time and a day says, read as UTC as all times of the pages; undefined: no time. */
export function utcTime(text: string): Date | undefined {
  if (!typed.test(text)) return undefined
  const time = new Date(`${text}Z`)
  if (Number.isNaN(time.getTime())) return undefined
  // `Date` takes 31 February for 3 March.
  return time.toISOString().startsWith(text.slice(0, 10)) ? time : undefined
}
