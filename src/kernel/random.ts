/** A fraction from 0 up to 1, for jitter only. */
export type RandomFraction = () => number

export const randomFraction: RandomFraction = () => Math.random()
