import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { inWords } from '../../kernel/noun.ts'
import { intervalText } from '../../subscriptions/interval.ts'
import { subscriptionFilters, type Terms } from '../../subscriptions/subscription.ts'
import { subscriptionNoun, type ListedSubscription } from '../../wire/subscription.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { subscriptionBadge } from '../parts/badges.ts'
import { chosen, filters, pager, pageSize } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { listed } from '../parts/listed.ts'
import { nounFilters, nounQuery, nounTable, type Cells } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { amount, modeBadge, nothing, time } from '../parts/values.ts'

/** Subscriptions, newest first. */
export async function subscriptionsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.subscriptions.list({
      limit: pageSize,
      ...nounQuery(url, subscriptionFilters),
      ...given({ cursor: chosen(url, 'cursor') }),
    }),
  )
  return {
    status,
    title: 'Subscriptions',
    section: 'subscriptions',
    body: html`${filters(url, nounFilters(visit, subscriptionFilters))} ${fault}
    ${fault === false && rowsOf(visit, data)} ${pager(url, nextCursor)}`,
  }
}

function rowsOf(visit: Visit, rows: readonly ListedSubscription[]): Html {
  const now = visit.console.now()
  const cells: Cells<ListedSubscription> = {
    status: ({ status }) => subscriptionBadge(status),
    terms: (one) => html`${one.plan !== null && html`<b>${shown(one.plan)}</b>:`} ${termsOf(one)}`,
    live: ({ live }) => modeBadge(live),
    next: (one) => nextOf(one, now),
  }
  const noun = {
    ...subscriptionNoun,
    facts: { ...subscriptionNoun.facts, next: inWords(() => '') },
  }
  const empty = 'There is no such subscription.'
  return nounTable(noun, rows, { visit, cells, columns, empty })
}

const columns = [
  'id',
  'status',
  'access',
  'payable',
  'terms',
  'live',
  'gateway',
  'next',
  'createdAt',
]

/** `UAH 199.00 every month`. */
export function termsOf(terms: Terms): Html {
  return html`${amount(terms)} every ${intervalText(terms.every)}`
}

/** What comes next by itself, and when. */
function nextOf(subscription: ListedSubscription, now: Date): Html {
  const { endedAt, cancelAt, pauseAt, resumeAt, trialEndsAt, paidUntil, status } = subscription
  if (endedAt !== null) return html`ended ${time(endedAt, now)}`
  if (cancelAt !== null) return html`ends ${time(cancelAt, now)}`
  if (status === 'paused') {
    return resumeAt === null ? html`when it is resumed` : html`resumes ${time(resumeAt, now)}`
  }
  if (pauseAt !== null) return html`pauses ${time(pauseAt, now)}`
  if (status === 'trialing') return html`trial ends ${time(trialEndsAt, now)}`
  return paidUntil === null ? nothing : html`renewal ${time(paidUntil, now)}`
}
