import type { Outcome } from '../../payments/outcome.ts'
import type { StatedFailure } from '../../subscriptions/statement.ts'
import type { PeriodNeeds } from '../../subscriptions/period.ts'
import { numberTextOf, type JsonObject } from '../body/json.ts'
import type { LookUps, StripeApi, Whose } from './api.ts'
import { notAskedFor } from './api-change.ts'
import { declineCodeOf, declines } from './declines.ts'
import { timeIn } from './fields.ts'
import { isId } from './payload.ts'
import { invoiceNow } from './poll-invoice.ts'
import { documentOf } from './read-document.ts'
import { invoiceSubscription, lastTry, type LastTry } from './read-invoice.ts'

/** Three weeks of a daily subscription, and years of others: it is asked again every week. */
const mostInvoices = 24

/** The invoices that a subscription was charged with of late, newest first. */
export async function latestInvoices(
  subscription: string,
  api: StripeApi,
): Promise<readonly JsonObject[]> {
  const pages = api.pages('v1/invoices', { subscription, limit: mostInvoices.toString() })
  for await (const page of pages) {
    const isIts = (invoice: JsonObject) =>
      isId(invoice.get('id'), 'in_') &&
      invoiceSubscription(invoice).subscriptionReference === subscription
    if (page.every(isIts)) return page
    throw notAskedFor('GET /v1/invoices')
  }
  return []
}

/** What the invoices say of payments, and the documents that they are, the oldest first. */
export async function outcomesOf(
  invoices: readonly JsonObject[],
  { live, account }: Whose,
  lookUps: LookUps,
): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  for (const object of invoices.toReversed()) {
    const snapshot = { id: undefined, type: 'poll', live, account, object }
    const said = await invoiceNow(snapshot, object, lookUps)
    outcomes.push(...said.filter(({ type }) => type !== 'ignored'), ...documentOf(snapshot))
  }
  return outcomes
}

const unpaidStatuses: ReadonlySet<unknown> = new Set(['open', 'uncollectible'])

/** Why this invoice is not paid, if it was tried in vain. */
export async function failureOf(
  invoice: JsonObject | undefined,
  api: Pick<StripeApi, 'get' | 'list'>,
): Promise<StatedFailure | null> {
  const id = invoice?.get('id')
  if (invoice === undefined || !isId(id, 'in_')) return null
  const attempt = Number(numberTextOf(invoice.get('attempt_count')) ?? 0)
  if (!unpaidStatuses.has(invoice.get('status')) || !(attempt > 0)) return null
  const needs = needsOf(await lastTry(invoice, id, api))
  if (needs === undefined) return null
  return { attempt, nextAttemptAt: timeIn(invoice.get('next_payment_attempt')) ?? null, needs }
}

const kinds = {
  soft: 'nothing',
  hard: 'new_card',
  authentication: 'confirmation',
} as const satisfies Record<string, PeriodNeeds>

/** Undefined: it has not failed, the bank has not decided yet. */
function needsOf({ waiting, error }: LastTry): PeriodNeeds | undefined {
  if (waiting !== undefined) {
    return waiting.get('status') === 'requires_action' ? 'confirmation' : undefined
  }
  return kinds[declines.get(declineCodeOf(error) ?? '') ?? 'soft']
}
