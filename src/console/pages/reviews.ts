import { html } from 'hono/html'
import { reviewFilters, type Review } from '../../payments/review.ts'
import { reviewNoun } from '../../wire/review.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { chosen, filters, pager, pageSize } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { nounFilters, nounQuery, nounTable, type Cells } from '../parts/noun.ts'
import { reviewBadge } from '../parts/reviews.ts'
import { amount, nothing } from '../parts/values.ts'

/** What a person must look at, newest first. */
export async function reviewsPage(visit: Visit): Promise<ConsolePage> {
  const url = withState(visit.url)
  const { data, nextCursor } = await visit.console.core.reviews.list({
    limit: pageSize,
    ...given({ cursor: chosen(url, 'cursor') }),
    ...nounQuery(url, reviewFilters),
  })
  const columns = ['id', 'state', 'inWords', 'gateway', 'stated', 'paymentId', 'times', 'lastAt']
  const rows = nounTable(reviewNoun, data, { visit, cells, columns, empty: emptyText(visit.url) })
  return {
    title: 'Reviews',
    section: 'reviews',
    body: html`${filters(url, nounFilters(visit, reviewFilters))} ${rows} ${pager(url, nextCursor)}`,
  }
}

/** Without a choice, the page shows the open ones. */
function withState(asked: URL): URL {
  const url = new URL(asked)
  if (!url.searchParams.has('state')) url.searchParams.set('state', 'open')
  return url
}

function emptyText({ searchParams }: URL): string {
  const isNarrowed = ['reason', 'gateway', 'payment', 'state', 'cursor'].some(
    (name) => (searchParams.get(name) ?? '') !== '',
  )
  return isNarrowed ? 'There is no such review.' : 'Nothing needs a person.'
}

/** What the list and the page of a review show in their own way. */
export const cells = {
  state: ({ state }) => reviewBadge(state),
  stated: ({ stated: { amount: value, currency } }) =>
    value === null || currency === null ? nothing : amount({ amount: value, currency }),
} satisfies Cells<Review>
