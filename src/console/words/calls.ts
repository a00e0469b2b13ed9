import type { FailureKind } from '../../events/failed-attempt.ts'
import type { CallState, PayloadKind } from '../../events/webhook-call.ts'
import type { OutcomeResult } from '../../payments/outcome.ts'
import { reasonFor } from '../../payments/reasons.ts'

/** What a state of a call means. */
export const callStateWords: Readonly<Record<CallState, string>> = {
  pending: 'It waits to be processed.',
  processing: 'It is being processed.',
  processed: 'It was processed, and what it says is applied.',
  ignored: 'It was processed, and changes nothing.',
  failed: 'It could not be processed, and is not tried again by itself.',
}

/** Who failed when an attempt did. */
export const failureKindWords: Readonly<Record<FailureKind, string>> = {
  listener: 'a listener of yours threw',
  provider: 'the provider, when it was asked',
  database: 'the database',
  worker_lost: 'the worker: its process ended in between',
  code: 'the program itself, or that of the gateway',
}

/** How a body reads. */
export const payloadKindWords: Readonly<Record<PayloadKind, string>> = {
  json: 'JSON',
  form: 'a form',
  unreadable: 'neither JSON nor a form',
}

const results: Readonly<Record<Exclude<OutcomeResult['result'], 'ignored'>, string>> = {
  applied: 'applied',
  duplicate: 'known already: nothing was done',
}

/** What became of one thing that a call says, in a sentence; what was found is foreign text. */
export function outcomeInWords(one: OutcomeResult): string {
  const detail = one.detail === undefined ? '' : ` (${one.detail})`
  return one.result === 'ignored'
    ? `${reasonFor(one.reason)?.callback ?? one.reason}${detail}`
    : `${one.type}: ${results[one.result]}${detail}`
}

/** So many are said in a row of a list. */
const mostInRow = 3

/** What became of all that a call says, in short. */
export function outcomesInWords(results: readonly OutcomeResult[]): string {
  const said = results.slice(0, mostInRow).map(outcomeInWords).join(' ')
  return results.length > mostInRow ? `${said} And ${results.length - mostInRow} more.` : said
}
