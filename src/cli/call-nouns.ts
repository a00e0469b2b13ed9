import type { CallDetails, WebhookCall } from '../events/webhook-call.ts'
import { derived, inWords, orNull, text, type Noun } from '../kernel/noun.ts'
import { callDetailsNoun, callNoun } from '../wire/call.ts'
import { callRemark, reviewRemark } from './call-remark.ts'

/** In a list: what became of a call in a few words. */
export const listedCalls: Noun<WebhookCall> = {
  ...callNoun,
  facts: { ...callNoun.facts, outcome: inWords(callRemark) },
}

/** On its own: why a person must look at it. */
export const shownCall: Noun<CallDetails> = {
  ...callDetailsNoun,
  facts: {
    ...callDetailsNoun.facts,
    needsReview: derived(orNull(text({ label: 'review' })), (call: WebhookCall) => {
      const why = reviewRemark(call)
      return why === undefined ? null : `needed: ${why}`
    }),
  },
}
