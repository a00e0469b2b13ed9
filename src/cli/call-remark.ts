import type { WebhookCall } from '../events/webhook-call.ts'

type Remarked = Pick<WebhookCall, 'state' | 'outcome' | 'exception' | 'needsReview'>

/** Why a call did not do what was expected; for an exception, the first line. */
export function callRemark(call: Remarked): string {
  const isOpen = call.state === 'pending' || call.state === 'failed'
  const why = isOpen ? (call.exception?.split('\n', 1)[0] ?? '') : wordsOf(call).join(', ')
  // Whatever failed needs one.
  const mark = call.needsReview && call.state !== 'failed' ? 'needs review' : ''
  return [mark, why].filter((part) => part !== '').join(': ')
}

/** What a person must look at, in the words of docs/5-operations.md; undefined if nothing. */
export function reviewRemark(call: Remarked): string | undefined {
  if (!call.needsReview) return undefined
  return call.state === 'failed' ? 'failed' : wordsOf(call).join(', ')
}

/** Why it was ignored; if it was applied and is marked all the same, what it says. */
function wordsOf({ outcome, needsReview }: Remarked): readonly string[] {
  const results = outcome ?? []
  const reasons = results.flatMap((one) => ('reason' in one ? [one.reason] : []))
  if (!needsReview) return reasons
  const details = results.flatMap((one) => (!('reason' in one) && one.detail ? [one.detail] : []))
  const words = [...reasons, ...details]
  return words.length > 0 ? words : results.map(({ type }) => type)
}
