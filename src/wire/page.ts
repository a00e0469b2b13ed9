import { z } from 'zod'

/** A page of a list, newest first. */
export const pageSchema = <T extends z.ZodType>(row: T) =>
  z.strictObject({ data: z.array(row), next_cursor: z.string().nullable() })

interface Page<T> {
  readonly data: readonly T[]
  readonly nextCursor: string | null
}

export function pageView<T, V>(page: Page<T>, view: (row: T) => V) {
  return { data: page.data.map((row) => view(row)), next_cursor: page.nextCursor }
}
