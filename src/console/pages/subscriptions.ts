import { html } from 'hono/html'
import { intervalText } from '../../subscriptions/interval.ts'
import { managers, subscriptionStatuses, type Terms } from '../../subscriptions/subscription.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { ListedSubscription } from '../../wire/subscription.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { subscriptionBadge } from '../parts/badges.ts'
import { gatewayChoice } from '../parts/choices.ts'
import { chosen, chosenOf, filters, pager, pageSize, type Filter } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { linkTo } from '../parts/links.ts'
import { listed } from '../parts/listed.ts'
import { chosenPayable, payableFilter, payableOf } from '../parts/payable.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { amount, modeBadge, nothing, time } from '../parts/values.ts'

/** Subscriptions, newest first. */
export async function subscriptionsPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const { data, nextCursor, fault, status } = await listed(async () =>
    console.core.subscriptions.list({
      limit: pageSize,
      ...given({
        cursor: chosen(url, 'cursor'),
        gateway: chosen(url, 'gateway'),
        status: chosenOf(url, 'status', subscriptionStatuses),
        managedBy: chosenOf(url, 'managed_by', managers),
        payable: chosenPayable(url),
      }),
    }),
  )
  return {
    status,
    title: 'Subscriptions',
    section: 'subscriptions',
    body: html`${filters(url, fieldsOf(visit))} ${fault} ${fault === false && rowsOf(visit, data)}
    ${pager(url, nextCursor)}`,
  }
}

function fieldsOf({ console }: Visit): readonly Filter[] {
  return [
    gatewayChoice(console.core),
    {
      kind: 'choice',
      name: 'status',
      label: 'Status',
      options: subscriptionStatuses.map((status) => [status, status.replaceAll('_', ' ')]),
    },
    {
      kind: 'choice',
      name: 'managed_by',
      label: 'Charged by',
      options: [
        ['local', 'us'],
        ['provider', 'the provider'],
      ],
    },
    payableFilter,
  ]
}

function rowsOf(visit: Visit, subscriptions: readonly ListedSubscription[]): Html {
  const now = visit.console.now()
  return table({
    caption: 'Subscriptions, newest first',
    columns: [
      'Subscription',
      'Status',
      'Access',
      'For',
      'Terms',
      'Mode',
      'Gateway',
      'Next',
      'Created',
    ],
    rows: subscriptions.map((one) => [
      linkTo(visit, 'subscriptions', one.id),
      subscriptionBadge(one.status),
      one.access ? 'yes' : 'no',
      payableOf(visit.console, one.payable),
      html`${one.plan !== null && html`<b>${shown(one.plan)}</b>:`} ${termsOf(one)}`,
      modeBadge(one.live),
      one.gateway,
      nextOf(one, now),
      time(one.createdAt, now),
    ]),
    empty: 'There is no such subscription.',
  })
}

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
