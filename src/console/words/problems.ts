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
  deferred_event: ['deferred event', 'deferred events'],
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

type Kind = Problem['kind']
type Of<K extends Kind> = Extract<Problem, { readonly kind: K }>
/** `since` says how long ago something was. */
type Words = {
  readonly [K in Kind]: (problem: Of<K>, since: (at: Date) => string) => ProblemWords
}

/** Each problem of the overview. */
export function problemInWords<K extends Kind>(problem: Of<K>, now: Date): ProblemWords {
  const words: Words[K] = problemWords[problem.kind]
  return words(problem, (at) => duration(now.getTime() - at.getTime()))
}

const problemWords: Words = {
  gateway_refuses: ({ gateway, refused, answered, main, since: from }, since) =>
    urgent(
      `${gateway} refuses ${share(refused, answered)} of its callbacks, for ${since(from)}${main === null ? '' : `: mostly ${main.reason}`}`,
      `/refused?gateway=${encodeURIComponent(gateway)}`,
      'refused',
    ),
  gateway_unverified: ({ gateway, refused }) =>
    urgent(
      `${gateway} has accepted no callback in 24 hours, and refused ${count(refused)} for their signature: mostly the secret that is set here is another one, or was cut`,
      `/refused?gateway=${encodeURIComponent(gateway)}`,
      'refused',
    ),
  failed: ({ what, count: many, newestAt, mostly }, since) =>
    urgent(
      `${some(many, failedNames[what])} failed for good${newestAt === null ? '' : `, the newest ${since(newestAt)} ago`}${mostly === null ? '' : `, mostly at ${mostly}`}`,
      `/failed?kind=${what}`,
      'failed',
    ),
  calls_wait: ({ pending, oldestSeconds }) =>
    urgent(
      `${count(pending)} calls wait, the oldest for ${duration(oldestSeconds * 1_000)}: workers are too few, or a listener is slow`,
      '/calls?state=pending',
      'calls',
    ),
  no_worker: ({ pendingCalls, pendingDeliveries }) =>
    urgent(
      `${count(pendingCalls)} calls and ${count(pendingDeliveries)} deliveries wait, and no worker runs: start \`quittance work\``,
      '/calls?state=pending',
      'calls',
    ),
  found_by_asking: ({ gateway, byAsking, byCallback }) =>
    urgent(
      `${gateway}: ${byAsking} of ${byAsking + byCallback} payments were found by asking: its callbacks do not come`,
      `/gateways/${encodeURIComponent(gateway)}`,
      'check the registration',
    ),
  stuck: ({ stuck, count: many }) =>
    mild(
      `${some(many, stuckNames[stuck])} ${stuckWords[stuck]}`,
      `/payments?stuck=${stuck}`,
      'payments',
    ),
  reviews_open: ({ count: many, oldest }, since) =>
    mild(
      `${some(many, ['review needs', 'reviews need'])} a person${oldest === null ? '' : `, the oldest for ${since(oldest)}`}`,
      '/reviews',
      'reviews',
    ),
  schedule_overdue: ({ schedule, overdueSeconds }) =>
    mild(
      `The schedule ${schedule} is overdue by ${duration(overdueSeconds * 1_000)}`,
      '/settings',
      'settings',
    ),
  endpoint_disabled: ({ endpoint, reason, since: from }, since) =>
    mild(
      `The endpoint ${endpoint} is disabled, for ${since(from)}: ${reason}`,
      '/endpoints',
      'endpoints',
    ),
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
