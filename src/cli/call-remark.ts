import { reasonsOf, type WebhookCall } from '../events/webhook-call.ts'
import type { OutcomeResult } from '../payments/outcome.ts'
import { docsFor, reasons } from '../payments/reasons.ts'

type Remarked = Pick<WebhookCall, 'state' | 'outcome' | 'exception' | 'needsReview'>

type Fact = readonly [label: string, text: string]

/** What became of a call; for an exception, its first line. */
export function callRemark(call: Remarked): string {
  const isOpen = call.state === 'pending' || call.state === 'failed'
  const ended = call.needsReview ? wordsOf(call) : (call.outcome ?? []).map(resultWord)
  const why = isOpen ? (call.exception?.split('\n', 1)[0] ?? '') : ended.join(', ')
  // Whatever failed needs one.
  const mark = call.needsReview && call.state !== 'failed' ? 'needs review' : ''
  return [mark, why].filter((part) => part !== '').join(': ')
}

/** The reasons why a person must look; undefined if none must. */
export function reviewRemark(call: Remarked): string | undefined {
  if (!call.needsReview) return undefined
  return call.state === 'failed' ? 'failed' : wordsOf(call).join(', ')
}

/** Why nothing changed, and what a person does if one must look, with their labels. */
export function callAdvice(call: Remarked): readonly Fact[] {
  return reasonsOf(call).flatMap((reason) => {
    const { callback, step } = reasons[reason]
    if (callback === undefined && !call.needsReview) return []
    const advice: Fact[] = callback === undefined ? [] : [['why', callback]]
    if (call.needsReview) advice.push(['do', step])
    advice.push(['see', docsFor(reason)])
    return advice
  })
}

/** `payment:paid`, or the reason why it was ignored. */
export function resultWord(one: OutcomeResult): string {
  if ('reason' in one) return one.reason
  return one.result === 'duplicate' ? `${one.type} (known already)` : one.type
}

/** Why it was ignored; if it was applied and is marked all the same, what it says. */
function wordsOf({ outcome }: Remarked): readonly string[] {
  const results = outcome ?? []
  const reasons = results.flatMap((one) => ('reason' in one ? [one.reason] : []))
  const details = results.flatMap((one) => (!('reason' in one) && one.detail ? [one.detail] : []))
  const words = [...reasons, ...details]
  return words.length > 0 ? words : results.map(({ type }) => type)
}
