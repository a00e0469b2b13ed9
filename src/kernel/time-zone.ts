/** Without one it is an offset such as `+02:00`, which knows no summer time, and is no zone. */
const letter = /[A-Za-z]/

/** Whether a value names a time zone of the IANA database (`Europe/Kyiv`, `UTC`). */
export function isTimeZone(name: unknown): name is string {
  if (typeof name !== 'string' || !letter.test(name)) return false
  try {
    Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}
