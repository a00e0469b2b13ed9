import { z } from 'zod'
import {
  answerFields,
  attemptFields,
  attemptFilters,
  endpointFields,
  forwardFields,
  type Endpoint,
  type Forward,
  type ForwardAttempt,
} from '../events/endpoint.ts'
import { inWords, viewOf, type Noun } from '../kernel/noun.ts'
import { schemaOf } from './noun.ts'

/** Where events are sent to; never with its secret. */
export const endpointSchema = schemaOf(endpointFields).extend({ behind: z.int().min(0) })

/** The one time that its secret is shown. */
export const createdEndpointSchema = endpointSchema.extend({
  secret: z.string().describe('`whsec_` and base64: it signs, and is shown this once.'),
})

/** An event that did not go at first, or is sent again. */
export const forwardSchema = schemaOf(forwardFields)

/** One request to an endpoint. */
export const forwardAttemptSchema = schemaOf(attemptFields)

/** What the answer to a test was. */
export const endpointTestSchema = schemaOf(answerFields)

export const endpointView: (endpoint: Endpoint) => z.output<typeof endpointSchema> =
  viewOf(endpointFields)

export function createdEndpointView({
  endpoint,
  secret,
}: {
  readonly endpoint: Endpoint
  readonly secret: string
}): z.output<typeof createdEndpointSchema> {
  return { ...endpointView(endpoint), secret }
}

export const forwardView: (forward: Forward) => z.output<typeof forwardSchema> =
  viewOf(forwardFields)

export const forwardAttemptView: (
  attempt: ForwardAttempt,
) => z.output<typeof forwardAttemptSchema> = viewOf(attemptFields)

export const endpointTestView: (
  answer: Pick<ForwardAttempt, keyof typeof answerFields>,
) => z.output<typeof endpointTestSchema> = viewOf(answerFields)

export const attemptNoun: Noun<ForwardAttempt> = {
  plural: 'attempts',
  facts: attemptFields,
  filters: attemptFilters,
  columns: ['eventId', 'attempt', 'result', 'status', 'durationMs', 'at'],
  notes: ['response'],
  view: forwardAttemptView,
}

export const endpointNoun = {
  plural: 'endpoints',
  facts: {
    ...endpointFields,
    eventTypes: inWords(
      ({ eventTypes }: Endpoint) => eventTypes?.join(', ') ?? 'all but those of browsers',
      { label: 'events' },
    ),
    gateways: inWords(({ gateways }: Endpoint) => gateways?.join(', ') ?? 'all'),
    ratePerSecond: inWords(
      ({ ratePerSecond: most }: Endpoint) => (most === null ? 'no limit' : `${most} a second`),
      { label: 'rate' },
    ),
  },
  filters: {},
  columns: ['name', 'behind', 'url'],
  view: endpointView,
} as const satisfies Noun<Endpoint>
