/** Lengths of time in milliseconds. */
export type Duration = number

/** So many seconds, in milliseconds. */
export const seconds = (count: number): Duration => count * 1000
/** So many minutes, in milliseconds. */
export const minutes = (count: number): Duration => seconds(count * 60)
/** So many hours, in milliseconds. */
export const hours = (count: number): Duration => minutes(count * 60)
/** So many days, in milliseconds. */
export const days = (count: number): Duration => hours(count * 24)
