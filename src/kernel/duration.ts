/** Lengths of time in milliseconds. */
export type Duration = number

/** A number of seconds, in milliseconds. */
export const seconds = (count: number): Duration => count * 1000
/** A number of minutes, in milliseconds. */
export const minutes = (count: number): Duration => seconds(count * 60)
/** A number of hours, in milliseconds. */
export const hours = (count: number): Duration => minutes(count * 60)
/** A number of days, in milliseconds. */
export const days = (count: number): Duration => hours(count * 24)
