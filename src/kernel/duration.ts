/** Lengths of time in milliseconds. */
export type Duration = number

export const seconds = (count: number): Duration => count * 1000
export const minutes = (count: number): Duration => seconds(count * 60)
export const hours = (count: number): Duration => minutes(count * 60)
export const days = (count: number): Duration => hours(count * 24)
