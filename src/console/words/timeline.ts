import { moneyText, type Money } from '../../kernel/money.ts'
import type { TimelineEntry, TimelineMove } from '../../inspect/timeline-entry.ts'
import { duration } from '../parts/values.ts'

/** How an entry is shown: a mark for the eye, what it is of, what happened. */
export interface EntryWords {
  readonly mark: string
  readonly what: string
  /** Foreign text may stand in it. */
  readonly text: string
  /** Below the path of the console; undefined: it leads nowhere. */
  readonly to?: string
  readonly isProblem?: boolean
}

/** Each entry of a payment's history in words. */
export function entryInWords(entry: TimelineEntry): EntryWords {
  switch (entry.kind) {
    case 'created':
      return { mark: 'o', what: 'created', text: moneyText(entry) }
    case 'browser':
      return of('.', 'browser', entry.eventType, `/events/${entry.eventId}`)
    case 'call':
      return callEntry(entry)
    case 'transition':
      return { mark: '+', what: moveName(entry), text: `${moved(entry)}, by ${entry.cause}` }
    case 'event':
      return of(
        '*',
        'event',
        entry.superseded ? `${entry.eventType}, overtaken: no listener ran` : entry.eventType,
        `/events/${entry.eventId}`,
      )
    case 'deferred':
    case 'delivery':
    case 'failed_attempt':
      return listenerEntry(entry)
    case 'asked':
      return askedEntry(entry)
    default:
      return moneyEntry(entry)
  }
}

type Of<Kind extends TimelineEntry['kind']> = Extract<TimelineEntry, { readonly kind: Kind }>

function of(mark: string, what: string, text: string, to: string): EntryWords {
  return { mark, what, text, to }
}

function callEntry(entry: Of<'call'>): EntryWords {
  const to = `/calls/${entry.callId}`
  if (entry.isDuplicate) return of('=', 'callback', 'duplicate: nothing done', to)
  const outcomes = entry.outcome?.map((one) => outcomeText(one)).join('; ')
  const moves = entry.moves.map((move) => moved(move)).join(', ')
  const waits = entry.attempts > 0 ? `, ${entry.attempts} attempts failed` : ''
  const text = [outcomes ?? `${entry.state}${waits}`, moves].filter((one) => one !== '').join(', ')
  const isProblem = entry.state === 'failed' || entry.needsReview
  return { mark: isProblem ? '!' : '+', what: 'callback', text, to, isProblem }
}

function outcomeText(result: NonNullable<Of<'call'>['outcome']>[number]): string {
  const { type, detail } = result
  const became = result.result === 'ignored' ? `${type}: ignored, ${result.reason}` : type
  return detail === undefined ? became : `${became} (${detail})`
}

function listenerEntry(entry: Of<'deferred' | 'delivery' | 'failed_attempt'>): EntryWords {
  if (entry.kind === 'deferred') {
    const text = `${entry.eventType}, put off: ${entry.state}, ${entry.attempts} attempts failed`
    return { mark: '*', what: 'event', text, isProblem: entry.state === 'failed' }
  }
  if (entry.kind === 'delivery') {
    const took = entry.durationMs === null ? '' : `, after ${duration(entry.durationMs)}`
    const text = `${entry.listener}: ${entry.state === 'processed' ? 'ok' : entry.state}${took}`
    const said = of('*', 'listener', text, `/events/${entry.eventId}`)
    return { ...said, isProblem: entry.state === 'failed' }
  }
  const text = `${entry.listener ?? 'processing'}, attempt ${entry.attempt}: ${entry.error}`
  const to = entry.callId === null ? undefined : `/calls/${entry.callId}`
  return { mark: 'x', what: 'listener', text, isProblem: true, ...(to !== undefined && { to }) }
}

function askedEntry({ operation, result, detail, times, durationMs }: Of<'asked'>): EntryWords {
  const often = times === 1 ? `in ${duration(durationMs)}` : `${times} times`
  const said = detail === null ? result : `${result}, ${detail}`
  return {
    mark: '?',
    what: `asked: ${operation}`,
    text: `${said} (${often})`,
    isProblem: result !== 'answered',
  }
}

type MoneyEntry = Of<'refund' | 'dispute' | 'review' | 'review_handled' | 'operator'>

function moneyEntry(entry: MoneyEntry): EntryWords {
  switch (entry.kind) {
    case 'refund': {
      const error = entry.error === null ? '' : `: ${entry.error}`
      const said = of(
        '<',
        'refund',
        `${moneyText(entry)}, ${entry.status}${error}`,
        `/payments/${entry.refundId}`,
      )
      return { ...said, isProblem: entry.status === 'failed' }
    }
    case 'dispute':
      return {
        mark: '!',
        what: 'dispute',
        text: `${entry.reference}: ${entry.status}${disputed(entry)}`,
        isProblem: true,
      }
    case 'review': {
      const often = entry.times > 1 ? `, said ${entry.times} times` : ''
      const text = `${entry.reason}${entry.detail === null ? '' : `: ${entry.detail}`}${often}`
      return {
        ...of('!', 'review', text, `/reviews/${entry.reviewId}`),
        isProblem: entry.state === 'open',
      }
    }
    case 'review_handled':
      return of(
        'o',
        'review handled',
        `by ${entry.operator ?? 'the service'}${entry.note === null ? '' : `: ${entry.note}`}`,
        `/reviews/${entry.reviewId}`,
      )
    case 'operator':
      return {
        mark: 'o',
        what: entry.operator,
        text: `${entry.action} by ${entry.via}: ${entry.outcome ?? 'outcome not known'}`,
      }
  }
}

function disputed({ amount, currency }: Of<'dispute'>): string {
  if (amount === null || currency === null) return ''
  const money: Money = { amount, currency }
  return `, ${moneyText(money)}`
}

function moveName({ isRefund }: TimelineMove): string {
  return isRefund ? 'refund' : 'payment'
}

function moved({ from, to, isRefund }: TimelineMove): string {
  return `${isRefund ? 'refund ' : ''}${from} -> ${to}`
}
