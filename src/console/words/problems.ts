import type { StuckKind } from '../../database/stuck-payments.ts'
import type { FailedKind } from '../../inspect/failed-groups.ts'
import type { Problem } from '../../inspect/problems.ts'
import { duration, count } from '../parts/values.ts'

/** A problem in words, and the page that helps. */
export interface ProblemWords {
  readonly text: string
  /** Foreign names stand in it. */
  readonly to: string
  readonly link: string
  /** Not urgent: it waits until somebody has time. */
  readonly isMild: boolean
}

const failedNames: Readonly<Record<FailedKind, readonly [string, string]>> = {
  call: ['call', 'calls'],
  delivery: ['delivery to a listener', 'deliveries to listeners'],
  deferred_event: ['put-off event', 'put-off events'],
  forward: ['event to an endpoint', 'events to endpoints'],
}

const stuckNames: Readonly<Record<StuckKind, readonly [string, string]>> = {
  checkout_unknown: ['checkout is', 'checkouts are'],
  poll_overdue: ['payment is', 'payments are'],
  refund_pending: ['refund is', 'refunds are'],
  dispute_open: ['dispute is', 'disputes are'],
}

export const stuckWords: Readonly<Record<StuckKind, string>> = {
  checkout_unknown: 'unknown to us for more than an hour: did the provider open it?',
  poll_overdue: 'overdue to be asked about, for more than 15 minutes',
  refund_pending: 'under way for more than a day',
  dispute_open: 'open: the bank of a payer takes the money back',
}

/** Each problem of the overview. */
export function problemInWords(problem: Problem, now: Date): ProblemWords {
  const since = (at: Date) => duration(now.getTime() - at.getTime())
  switch (problem.kind) {
    case 'gateway_refuses':
      return urgent(
        `${problem.gateway} refuses ${share(problem.refused, problem.answered)} of its callbacks, for ${since(problem.since)}${problem.main === null ? '' : `: mostly ${problem.main.reason}`}`,
        `/refused?gateway=${encodeURIComponent(problem.gateway)}`,
        'refused',
      )
    case 'failed':
      return urgent(
        `${some(problem.count, failedNames[problem.what])} failed for good${problem.newestAt === null ? '' : `, the newest ${since(problem.newestAt)} ago`}${problem.mostly === null ? '' : `, mostly at ${problem.mostly}`}`,
        `/failed?kind=${problem.what}`,
        'failed',
      )
    case 'calls_wait':
      return urgent(
        `${count(problem.pending)} calls wait, the oldest for ${duration(problem.oldestSeconds * 1_000)}: workers are too few, or a listener is slow`,
        '/calls?state=pending',
        'calls',
      )
    case 'no_worker':
      return urgent(
        `${count(problem.pendingCalls)} calls and ${count(problem.pendingDeliveries)} deliveries wait, and no worker runs: start \`quittance work\``,
        '/calls?state=pending',
        'calls',
      )
    case 'found_by_asking':
      return urgent(
        `${problem.gateway}: ${problem.byAsking} of ${problem.byAsking + problem.byCallback} payments were found by asking, its callbacks do not come`,
        `/gateways/${encodeURIComponent(problem.gateway)}`,
        'check the registration',
      )
    case 'stuck':
      return mild(
        `${some(problem.count, stuckNames[problem.stuck])} ${stuckWords[problem.stuck]}`,
        `/payments?stuck=${problem.stuck}`,
        'payments',
      )
    case 'reviews_open':
      return mild(
        `${some(problem.count, ['review needs', 'reviews need'])} a person${problem.oldest === null ? '' : `, the oldest for ${since(problem.oldest)}`}`,
        '/reviews',
        'reviews',
      )
    case 'schedule_overdue':
      return mild(
        `The schedule ${problem.schedule} is overdue by ${duration(problem.overdueSeconds * 1_000)}`,
        '/settings',
        'settings',
      )
    case 'endpoint_disabled':
      return mild(
        `The endpoint ${problem.endpoint} is disabled, for ${since(problem.since)}: ${problem.reason}`,
        '/endpoints',
        'endpoints',
      )
  }
}

function urgent(text: string, to: string, link: string): ProblemWords {
  return { text, to, link, isMild: false }
}

function mild(text: string, to: string, link: string): ProblemWords {
  return { text, to, link, isMild: true }
}

function some(value: number, [one, many]: readonly [string, string]): string {
  return value === 1 ? `1 ${one}` : `${count(value)} ${many}`
}

function share(part: number, all: number): string {
  return `${Math.round((part / Math.max(1, all)) * 100)} %`
}
