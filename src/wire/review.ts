import { inWords as factInWords, viewOf, type Noun } from '../kernel/noun.ts'
import { withJson } from '../kernel/with-json.ts'
import { docsFor, stepFor } from '../payments/reasons.ts'
import { inWords, statedText } from '../payments/review-words.ts'
import { reviewFields, reviewFilters, type Review, type ReviewJson } from '../payments/review.ts'
import { schemaOf } from './noun.ts'

const facts = {
  ...reviewFields,
  stated: { ...reviewFields.stated, toText: statedText },
  inWords: factInWords<Review>(inWords, { label: 'what' }),
}

/** Something that a person must look at. */
export const reviewSchema = schemaOf(facts)
export const reviewView: (review: Omit<Review, 'toJSON'>) => ReviewJson = viewOf(facts)

export const reviewNoun: Noun<Review> = {
  plural: 'reviews',
  facts: {
    ...facts,
    step: factInWords<Review>(({ reason }) => stepFor(reason), { label: 'do' }),
    docs: factInWords<Review>(({ reason }) => docsFor(reason), { label: 'see' }),
  },
  filters: reviewFilters,
  columns: ['id', 'state', 'gateway', 'times', 'lastAt'],
  notes: ['paymentId', 'inWords'],
  view: reviewView,
}

/** A review from its data: a copy has no `toJSON`. */
export function reviewOf(data: Omit<Review, 'toJSON'>): Review {
  return withJson(data, reviewView)
}
