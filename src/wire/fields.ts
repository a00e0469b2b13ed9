import { z } from 'zod'

/** ISO 8601 in UTC, to the millisecond. */
export const time = z.iso.datetime({ precision: 3 })

/** Minor units. Exact: no amount above Number.MAX_SAFE_INTEGER is ever accepted. */
export const amount = z.int()

/** A UUID in lower case. Callers choose ids too, so it may be of any version. */
export const id = z.guid()
