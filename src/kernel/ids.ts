import { v7 } from 'uuid'

/** Makes a UUID v7: unique, and ordered by the time of its making. */
export type NewId = () => string

export const newUuid: NewId = () => v7()

const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Only the canonical lower-case spelling: no braces, no `urn:`, no white space, no capitals. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && text.length === 36 && canonicalUuid.test(text)
}

/** A fraction from 0 up to 1, for jitter only. */
export type RandomFraction = () => number

export const randomFraction: RandomFraction = () => Math.random()
