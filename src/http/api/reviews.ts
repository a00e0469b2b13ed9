import { QuittanceError } from '../../kernel/errors.ts'
import { reviewFilters } from '../../payments/review.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { reviewSchema, reviewView } from '../../wire/review.ts'
import { operatorOf } from '../operator-name.ts'
import { handlingBody } from './bodies.ts'
import { idOf } from './params.ts'
import { reviewsQuery } from './queries.ts'
import { listQueryOf } from './read-request.ts'
import { gatewayListErrors } from './refusals.ts'
import { route } from './route.ts'

const ofReview = idOf('the review')

/** `/reviews` of the management API. */
export const reviewRoutes = [
  route({
    name: 'listReviews',
    method: 'GET',
    path: '/reviews',
    summary: 'Lists what a person must look at, or has, newest first',
    query: reviewsQuery,
    answers: { 200: pageSchema(reviewSchema) },
    errors: gatewayListErrors,
    handle: async ({ core, query: asked }) => {
      const page = await core.reviews.list(listQueryOf(core, reviewFilters, asked))
      return { status: 200, body: pageView(page, reviewView) }
    },
  }),
  route({
    name: 'getReview',
    method: 'GET',
    path: '/reviews/{id}',
    summary: 'One review',
    params: ofReview,
    answers: { 200: reviewSchema },
    errors: ['review_not_found'],
    handle: async ({ core, params }) => {
      const review = await core.reviews.get(params.id)
      if (review === undefined) {
        throw new QuittanceError('review_not_found', 'there is no review with this id')
      }
      return { status: 200, body: reviewView(review) }
    },
  }),
  route({
    name: 'handleReview',
    method: 'POST',
    path: '/reviews/{id}/handle',
    summary: 'Closes a review: a person has looked',
    description: 'To repeat it with the same content is safe; 409 if another person was first.',
    params: ofReview,
    body: handlingBody,
    answers: { 200: reviewSchema },
    errors: ['review_not_found', 'review_invalid', 'review_handled'],
    handle: async ({ core, params, body, c }) => {
      const operator = operatorOf(c)
      const input = operator === undefined ? body : { ...body, operator }
      return { status: 200, body: reviewView(await core.reviews.handle(params.id, input)) }
    },
  }),
]
