import { humanMoney } from '../../http/human-money.ts'
import type { TimelineEntry, TimelineMove } from '../../inspect/timeline-entry.ts'
import type { Cause } from '../../payments/payment.ts'
import { duration } from '../../kernel/figures.ts'
import { outcomesInWords } from './calls.ts'

/** How an entry is shown. */
export interface EntryWords {
  /** For the eye alone: what kind it is of. */
  readonly mark: string
  readonly what: string
  /** Foreign text may stand in it. */
  readonly text: string
  /** Below the path of the console; undefined: it leads nowhere. */
  readonly to?: string
  readonly isProblem?: boolean
}

type Kind = TimelineEntry['kind']
type Of<K extends Kind> = Extract<TimelineEntry, { readonly kind: K }>
type Words = { readonly [K in Kind]: (entry: Of<K>) => EntryWords }

/** Each entry of a payment's history in words. */
export function entryInWords<K extends Kind>(entry: Of<K>): EntryWords {
  const words: Words[K] = entryWords[entry.kind]
  return words(entry)
}

const entryWords: Words = {
  created: (entry) => ({ mark: 'o', what: 'created', text: humanMoney(entry, 'en') }),
  browser: (entry) => ({
    mark: '.',
    what: 'browser',
    text: entry.eventType,
    to: `/events/${entry.eventId}`,
  }),
  call: callWords,
  transition: (entry) => ({
    mark: '+',
    what: entry.isRefund ? 'refund' : 'payment',
    text: `${moved(entry)}, ${causeWords[entry.cause]}`,
  }),
  event: (entry) => ({
    mark: '*',
    what: 'event',
    text: entry.eventType + (entry.superseded ? ', overtaken: no listener ran' : ''),
    to: `/events/${entry.eventId}`,
  }),
  deferred: (entry) => ({
    mark: '*',
    what: 'event',
    text: `${entry.eventType}, deferred: ${entry.state}, ${entry.attempts} attempts failed`,
    isProblem: entry.state === 'failed',
  }),
  delivery: deliveryWords,
  failed_attempt: (entry) => ({
    mark: 'x',
    what: entry.listener === null ? 'processing' : 'listener',
    text: `${entry.listener ?? 'a callback'}, attempt ${entry.attempt}: ${entry.error}`,
    isProblem: true,
    ...(entry.callId !== null && { to: `/calls/${entry.callId}` }),
  }),
  asked: askedWords,
  refund: (entry) => ({
    mark: '<',
    what: 'refund',
    text: `${humanMoney(entry, 'en')}, ${entry.status}${behind(': ', entry.error)}`,
    to: `/payments/${entry.refundId}`,
    isProblem: entry.status === 'failed',
  }),
  dispute: (entry) => ({
    mark: '!',
    what: 'dispute',
    text: `${entry.reference}: ${entry.status}${disputed(entry)}`,
    isProblem: true,
  }),
  review: reviewWords,
  review_handled: (entry) => ({
    mark: 'o',
    what: 'review handled',
    text: `by ${entry.operator ?? 'the service'}${behind(': ', entry.note)}`,
    to: `/reviews/${entry.reviewId}`,
  }),
  operator: (entry) => ({
    mark: 'o',
    what: entry.operator,
    text: `${entry.action}, by ${entry.via}: ${entry.outcome ?? 'what came of it is not known'}`,
  }),
}

function callWords(entry: Of<'call'>): EntryWords {
  const { callId, isDuplicate, outcome, state, attempts, moves, needsReview } = entry
  const to = `/calls/${callId}`
  if (isDuplicate) return { mark: '=', what: 'callback', text: 'duplicate: nothing was done', to }
  const waits = attempts > 0 ? `${state}, ${attempts} attempts failed` : state
  const said = outcome === null ? waits : outcomesInWords(outcome)
  const isProblem = state === 'failed' || needsReview
  return {
    mark: isProblem ? '!' : '+',
    what: 'callback',
    text: [said, ...moves.map(moved)].join('; '),
    to,
    isProblem,
  }
}

function deliveryWords({ listener, state, durationMs, eventId }: Of<'delivery'>): EntryWords {
  const took = durationMs === null ? '' : `, after ${duration(durationMs)}`
  return {
    mark: '*',
    what: 'listener',
    text: `${listener}: ${state === 'processed' ? 'ok' : state}${took}`,
    to: `/events/${eventId}`,
    isProblem: state === 'failed',
  }
}

function askedWords({ operation, result, detail, times, durationMs }: Of<'asked'>): EntryWords {
  const often = times === 1 ? `in ${duration(durationMs)}` : `${times} times`
  return {
    mark: '?',
    what: `asked: ${operation}`,
    text: `${result}${behind(', ', detail)} (${often})`,
    isProblem: result !== 'answered',
  }
}

function reviewWords({ reviewId, reason, detail, times, state }: Of<'review'>): EntryWords {
  const often = times > 1 ? `, said ${times} times` : ''
  return {
    mark: '!',
    what: 'review',
    text: `${reason}${behind(': ', detail)}${often}`,
    to: `/reviews/${reviewId}`,
    isProblem: state === 'open',
  }
}

function behind(mark: string, text: string | null): string {
  return text === null ? '' : mark + text
}

function disputed({ amount, currency }: Of<'dispute'>): string {
  return amount === null || currency === null ? '' : `, ${humanMoney({ amount, currency }, 'en')}`
}

function moved({ from, to, isRefund }: TimelineMove): string {
  return `${isRefund ? 'refund ' : ''}${from} -> ${to}`
}

/** What moved a payment. */
export const causeWords: Readonly<Record<Cause, string>> = {
  call: 'by a callback',
  poll: 'found by asking the provider',
  refund: 'by a refund that was requested here',
  operator: 'by an operator',
  service: 'by the service itself, at its time',
}
