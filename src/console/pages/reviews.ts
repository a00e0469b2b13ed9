import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { inWords } from '../../payments/review-words.ts'
import { reviewReasons, reviewStates, type Review } from '../../payments/review.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { gatewayChoice } from '../parts/choices.ts'
import { chosen, chosenOf, filters, pager, pageSize, type Filter } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { reviewBadge } from '../parts/reviews.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { amount, idLink, nothing, time } from '../parts/values.ts'

/** What a person must look at, newest first. */
export async function reviewsPage(visit: Visit): Promise<ConsolePage> {
  const { console } = visit
  const url = withState(visit.url)
  const { data, nextCursor } = await console.core.reviews.list({
    limit: pageSize,
    ...given({
      cursor: chosen(url, 'cursor'),
      state: chosenOf(url, 'state', reviewStates),
      reason: chosen(url, 'reason'),
      gateway: chosen(url, 'gateway'),
      paymentId: chosen(url, 'payment'),
    }),
  })
  return {
    title: 'Reviews',
    section: 'reviews',
    body: html`${filters(url, fieldsOf(visit))} ${rowsOf(visit, data)} ${pager(url, nextCursor)}`,
  }
}

/** Who has chosen nothing wants those that are open. */
function withState(asked: URL): URL {
  const url = new URL(asked)
  if (!url.searchParams.has('state')) url.searchParams.set('state', 'open')
  return url
}

function fieldsOf({ console }: Visit): readonly Filter[] {
  return [
    {
      kind: 'choice',
      name: 'state',
      label: 'State',
      options: reviewStates.map((state) => [state, state]),
    },
    {
      kind: 'choice',
      name: 'reason',
      label: 'Reason',
      options: reviewReasons.map((reason) => [reason, reason.replaceAll('_', ' ')]),
    },
    gatewayChoice(console.core),
    { kind: 'text', name: 'payment', label: 'Payment: id' },
  ]
}

function rowsOf({ console, url }: Visit, reviews: readonly Review[]): Html {
  const { path } = console
  const now = console.now()
  return table({
    caption: 'Reviews, newest first',
    columns: [
      'Review',
      'State',
      'What was found',
      'Gateway',
      { title: 'Stated', isNumber: true },
      'Payment',
      { title: 'Times', isNumber: true },
      'Last',
    ],
    rows: reviews.map((review) => [
      idLink(`${path}/reviews/${review.id}`, review.id),
      reviewBadge(review.state),
      shown(inWords(review)),
      review.gateway,
      statedMoney(review),
      review.paymentId === null
        ? nothing
        : idLink(`${path}/payments/${review.paymentId}`, review.paymentId),
      review.times,
      time(review.lastAt, now),
    ]),
    empty: emptyText(url),
  })
}

function emptyText({ searchParams }: URL): string {
  const isNarrowed = ['reason', 'gateway', 'payment', 'state', 'cursor'].some(
    (name) => (searchParams.get(name) ?? '') !== '',
  )
  return isNarrowed ? 'There is no such review.' : 'Nothing needs a person.'
}

/** What was stated, if it is money. */
export function statedMoney({ stated }: Pick<Review, 'stated'>): Html {
  const { amount: value, currency } = stated
  return value === null || currency === null ? nothing : amount({ amount: value, currency })
}
