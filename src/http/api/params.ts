import { z } from 'zod'

/** A part of a path: an id that we made, or the caller. What is no id is not found. */
export function idOf(what: string) {
  return { id: z.guid().toLowerCase().describe(`The id of ${what}.`) }
}
