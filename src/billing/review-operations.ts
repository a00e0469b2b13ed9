import { handleReview } from '../database/handle-review.ts'
import { findReview, listReviews } from '../database/list-reviews.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { randomFraction } from '../kernel/ids.ts'
import { withUuid } from '../kernel/uuid.ts'
import { refuseInsideListener } from '../listeners/listener-scope.ts'
import { retryPassing } from '../queue/retry-passing.ts'
import type { Review } from '../payments/review.ts'
import { handle } from './handles.ts'
import { checked, reviewsQuery } from './list-queries.ts'
import { readHandling, type HandleReviewInput } from './review-input.ts'
import type { Runtime } from './runtime.ts'
import type { BillingCore } from './types.ts'

/** `billing.reviews` */
export function reviewOperations(runtime: Runtime): BillingCore['reviews'] {
  return {
    get: async (id) => {
      const db = await handle(runtime, 'billing.reviews.get')
      return withUuid(id, (known) => findReview(db, known))
    },
    list: async (query = {}) =>
      listReviews(await handle(runtime, 'billing.reviews.list'), checked(reviewsQuery, query)),
    handle: (id, input) => handleOne(runtime, id, input),
  }
}

async function handleOne(runtime: Runtime, id: string, input: HandleReviewInput): Promise<Review> {
  refuseInsideListener('billing.reviews.handle')
  const handling = readHandling(input)
  const { database } = await runtime.opened()
  const work = (known: string) =>
    retryPassing(
      () => database.transaction(({ db }) => handleReview(db, known, handling)),
      randomFraction,
    )
  const handled = (await withUuid(id, work)) ?? ({ kind: 'unknown' } as const)
  if (handled.kind === 'handled') return handled.review
  if (handled.kind === 'unknown') {
    throw new QuittanceError('review_not_found', `there is no review ${JSON.stringify(id)}`)
  }
  throw conflict(handled.review)
}

function conflict({ id, state, operator, version }: Review): QuittanceError {
  const by = operator === null ? '' : ` by ${operator}`
  const text =
    state === 'handled'
      ? `review ${id} was handled${by} already`
      : `review ${id} has changed: its version is ${version}`
  return new QuittanceError('review_handled', text)
}
