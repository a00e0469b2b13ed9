import { z } from 'zod'
import { eventTypes } from '../events/catalogue.ts'
import { seconds } from '../kernel/duration.ts'
import { must, text } from '../kernel/input-rules.ts'

/** Events in one page at most. */
export const mostFeedEvents = 500
/** Longest time to wait for the first event: less than what proxies wait. */
export const longestFeedWait = seconds(50)

const signal = z.instanceof(AbortSignal, must('must be an AbortSignal'))

/** What is read of the feed. */
export const readFields = {
  after: text(200).optional(),
  since: z.date(must('must be a Date')).optional(),
  types: z
    .array(z.enum(eventTypes, must('must be names of events')), must('must be a list of names'))
    .min(1, must('must name an event'))
    .readonly()
    .optional(),
  gateway: text(64).optional(),
  signal: signal.optional(),
}

const limitRule = must(`must be a whole number from 1 to ${mostFeedEvents}`)
const waitRule = must(`must be milliseconds from 0 to ${longestFeedWait}`)

/** One page of it. */
export const pageFields = {
  ...readFields,
  limit: z.int(limitRule).min(1, limitRule).max(mostFeedEvents, limitRule).optional(),
  wait: z.number(waitRule).min(0, waitRule).max(longestFeedWait, waitRule).optional(),
}
