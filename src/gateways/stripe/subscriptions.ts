import { QuittanceError } from '../../kernel/errors.ts'
import type { Outcome } from '../../payments/outcome.ts'
import type { PeriodNeeds } from '../../subscriptions/period.ts'
import type { StatedFailure } from '../../subscriptions/statement.ts'
import type { Interval } from '../../subscriptions/subscription.ts'
import { numberTextOf, type JsonObject } from '../body/json.ts'
import type { OperationContext } from '../interpret-context.ts'
import type {
  SubscriptionOperations,
  SubscriptionReply,
  SubscriptionRequest,
} from '../subscription-operations.ts'
import { done, isRefusal, notAskedFor, type Form } from './api-change.ts'
import {
  keyVariable,
  noKeyText,
  type LookUps,
  type StripeApi,
  type StripeClient,
  type Whose,
} from './api.ts'
import { declineCodeOf, declines } from './declines.ts'
import { clientFor, modeOf } from './fetched.ts'
import { timeIn } from './fields.ts'
import { isId } from './payload.ts'
import { invoiceNow } from './poll-invoice.ts'
import { documentOf } from './read-document.ts'
import { invoiceSubscription, lastTry, type LastTry } from './read-invoice.ts'
import { statementOf } from './read-subscription.ts'

/** https://docs.stripe.com/api/subscriptions */
export const subscriptions: SubscriptionOperations = {
  intervalFault,
  read,
  async cancel({ at, wishId, ...request }, context) {
    const client = clientFor(request, context)
    if (at === 'now') return end(request, client)
    const form = { cancel_at_period_end: 'true' }
    await change(request, { form, idempotencyKey: `cancel:${wishId}` }, client)
  },
  async pause({ at, until, wishId, ...request }, context) {
    if (at !== 'now' || until !== null) throw plannedPause()
    // What is paid and not used is not credited: nothing is prorated here.
    const form = { type: 'subscription', 'bill_for[unused_time_from][type]': 'none' }
    const client = clientFor(request, context)
    await change(request, { verb: 'pause', form, idempotencyKey: `pause:${wishId}` }, client)
  },
  async resume({ wishId, ...request }, context) {
    const client = clientFor(request, context)
    const subscription = await client.get(pathOf(request))
    if (subscription === undefined) throw missing(request, context)
    const wish = { ...resumption(subscription), idempotencyKey: `resume:${wishId}` }
    await change(request, wish, client)
  },
}

/** https://docs.stripe.com/api/prices/create#create_price-recurring-interval_count */
const longest = { day: 1095, week: 156, month: 36, year: 3 } as const

function intervalFault({ unit, count }: Interval): string | undefined {
  return count > longest[unit] ? 'Stripe takes periods of three years at most' : undefined
}

/**
 * The subscription first, then its invoices: so these are not older than what it says. The schedule
 * holds a pause that is planned in the dashboard.
 */
async function read(
  request: SubscriptionRequest,
  context: OperationContext,
): Promise<SubscriptionReply | undefined> {
  const client = clientFor(request, context)
  const path = pathOf(request)
  const subscription = await client.get(path, { 'expand[]': 'schedule' })
  if (subscription === undefined) return undefined
  const whose = whoseOf(request, subscription)
  const invoices = await latestInvoices(request.reference, client)
  const api = remembering(client)
  const latest = invoices.find((one) => one.get('id') === subscription.get('latest_invoice'))
  const failure = await failureOf(latest, api)
  const statement = statementOf(subscription, { ...whose, failure })
  if (statement === undefined) throw notAskedFor(`GET /${path}`)
  const outcomes = await outcomesOf(invoices, whose, {
    api,
    noKey: noKeyText(context),
    log: context.log,
  })
  return { statement, outcomes }
}

/** Error: `provider_reply_invalid` for one of another mode. */
function whoseOf({ live, merchantAccount, reference }: SubscriptionRequest, object: JsonObject) {
  const { live: stated } = modeOf(object)
  if (live !== null && stated !== undefined && stated !== live) {
    throw notAskedFor(`GET /v1/subscriptions/${reference}`)
  }
  return { live: stated, account: merchantAccount ?? undefined }
}

/** What was asked once is not asked again: an unpaid invoice says two things. */
function remembering(api: StripeApi): StripeApi {
  const got = new Map<string, ReturnType<StripeApi['get']>>()
  const listed = new Map<string, ReturnType<StripeApi['list']>>()
  const once = <Reply>(known: Map<string, Reply>, key: string, ask: () => Reply): Reply => {
    const reply = known.get(key) ?? ask()
    known.set(key, reply)
    return reply
  }
  return {
    get: (path, query) => once(got, JSON.stringify([path, query]), () => api.get(path, query)),
    list: (path, query) => once(listed, JSON.stringify([path, query]), () => api.list(path, query)),
    pages: (path, query) => api.pages(path, query),
  }
}

/** Three weeks of a daily subscription, and years of others: it is asked again every week. */
const mostInvoices = 24

/** The invoices that a subscription was charged with of late, newest first. */
async function latestInvoices(
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
async function outcomesOf(
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
async function failureOf(
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

function pathOf({ reference }: Pick<SubscriptionRequest, 'reference'>): string {
  if (isId(reference, 'sub_')) return `v1/subscriptions/${reference}`
  throw new QuittanceError('subscription_invalid', 'Stripe knows subscriptions by ids like sub_...')
}

interface Wish {
  /** Absent: the subscription itself is changed. */
  readonly verb?: 'pause' | 'resume'
  readonly form: Form
  readonly idempotencyKey: string
}

async function change(
  request: Pick<SubscriptionRequest, 'reference'>,
  { verb, ...wish }: Wish,
  client: StripeClient,
): Promise<void> {
  const path = [pathOf(request), ...(verb === undefined ? [] : [verb])].join('/')
  const object = await done(client.send({ method: 'post', path, ...wish }))
  if (object.get('id') !== request.reference) throw notAskedFor(`POST /${path}`)
}

/** Stripe knows no idempotency key of a DELETE; of one that has ended, it refuses another. */
async function end(
  request: Pick<SubscriptionRequest, 'reference'>,
  client: StripeClient,
): Promise<void> {
  const path = pathOf(request)
  try {
    const object = await done(client.send({ method: 'delete', path }))
    if (object.get('id') !== request.reference) throw notAskedFor(`DELETE /${path}`)
  } catch (error) {
    if (isRefusal(error) && (await hasEnded(path, client))) return
    throw error
  }
}

const overStatuses: ReadonlySet<unknown> = new Set(['canceled', 'incomplete_expired'])

async function hasEnded(path: string, client: StripeClient): Promise<boolean> {
  const subscription = await client.get(path)
  return subscription !== undefined && overStatuses.has(subscription.get('status'))
}

/**
 * What brings it back: a pause is ended by the payment of a new period, before which it stays
 * paused, and a planned end is taken back. Something is sent even if nothing is planned: a wish that
 * is still on its way may plan it.
 */
function resumption(subscription: JsonObject): Pick<Wish, 'verb' | 'form'> {
  if (subscription.get('status') === 'paused') {
    return { verb: 'resume', form: { payment_behavior: 'resume_on_payment_success' } }
  }
  const hasDate = (subscription.get('cancel_at') ?? null) !== null
  const isAtPeriodEnd = subscription.get('cancel_at_period_end') === true
  return { form: hasDate && !isAtPeriodEnd ? { cancel_at: '' } : { cancel_at_period_end: 'false' } }
}

function missing(
  { reference }: Pick<SubscriptionRequest, 'reference'>,
  context: OperationContext,
): QuittanceError {
  return new QuittanceError('provider_refused', `Stripe has no subscription ${reference}`, {
    fix: `Check that ${keyVariable(context)} belongs to the account that the subscription was begun in.`,
    providerCode: 'resource_missing',
  })
}

/** Stripe plans pauses in schedules, under which it refuses our other wishes. */
function plannedPause(): QuittanceError {
  return new QuittanceError(
    'operation_unsupported',
    'Stripe pauses a subscription at once, and until it is resumed: a pause cannot be planned',
    { fix: 'Pause it at once (at: now) without an end, or plan the pause in the dashboard.' },
  )
}
