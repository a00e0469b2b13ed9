import type { RefusalWords } from './refusal.ts'
import { bodyRefusals } from './refusals-of-bodies.ts'
import { signatureRefusals } from './refusals-of-signatures.ts'

export type { RefusalWords }

const own = {
  not_configured: {
    meaning: 'The gateway has no secret here to check its callbacks by.',
    cause: 'Its variables are not set in the process that takes the callbacks.',
    fix: 'Set what its page says is missing, and restart. The provider sends the callbacks again.',
  },
  switched_off: {
    meaning: 'The gateway is switched off.',
    cause: 'Its switch is off, as it is by default under the production rules.',
    fix: 'Leave it off in production. Elsewhere, set its switch to on, and restart.',
  },
  verifier_threw: {
    meaning: 'The check of the signature failed by a fault of its own.',
    cause: 'A fault in the program of the gateway.',
    fix: 'The log of the service has the exception: "a verifier threw". Report it, or correct it.',
  },
  unknown_gateway: {
    meaning: 'The callback names a gateway that is not registered here.',
    cause: 'The callback URL at a provider is misspelt, or somebody tries addresses.',
    fix: 'Compare the URL in the dashboard of the provider with the one that our page of the gateway shows.',
  },
  wrong_address: {
    meaning: 'The callback came to an address that is only almost the one of the gateway.',
    cause:
      'The callback URL at the provider has a slash too many or too few, capitals, or a blank.',
    fix: 'Give the provider the URL that our page of the gateway shows, letter by letter.',
  },
  too_large: {
    meaning: 'The body is larger than any callback of the gateway.',
    cause: 'No provider sends one so large: somebody else did.',
    fix: 'Nothing. If a provider really does, raise the limit in the settings of an app.',
  },
  encoding: {
    meaning: 'The body is compressed, or encoded in a way that no provider uses.',
    cause: 'A proxy in front compresses requests, or somebody else sent it.',
    fix: 'Let the proxy pass the body of callbacks on as it came.',
  },
  malformed: {
    meaning: 'The body lacks a field that the gateway needs.',
    cause: 'A test callback written by hand.',
    fix: 'The answer names the field: correct it, and send it again.',
  },
  unavailable: {
    meaning:
      'The callback was answered 503: it could not be stored, or its check could not be made.',
    cause: 'The database was away, or too slow.',
    fix: 'See that the database answers. The provider sends the callbacks again: nothing is lost.',
  },
  failed: {
    meaning: 'The callback was answered 500: it was processed within the request, and that failed.',
    cause: 'A listener threw, or the program has a fault.',
    fix: 'See what failed, and replay it. The provider sends the callback again, too.',
  },
  throttled: {
    meaning: 'The sender has sent too much in too short a time.',
    cause: 'A limit in the middleware of the webhook route.',
    fix: 'If it was a provider, raise the limit: it sends the callbacks again.',
  },
  other: {
    meaning: 'Further reasons, which are counted together.',
    cause: 'There are more reasons than are counted one by one.',
    fix: 'The log of the service names each: "callback refused".',
  },
} as const satisfies Readonly<Record<string, RefusalWords>>

/** Each reason for which a built-in gateway, or the intake, refuses a callback. */
export const refusalWords = { ...own, ...signatureRefusals, ...bodyRefusals }

export type RefusalReason = keyof typeof refusalWords

export function isRefusalReason(text: string): text is RefusalReason {
  return Object.hasOwn(refusalWords, text)
}

/** A gateway of one's own may have reasons of its own. */
export function refusalInWords(reason: string): RefusalWords {
  if (isRefusalReason(reason)) return refusalWords[reason]
  // Of a body whose outer form could not be read.
  const inner = reason.replace(/^body_/, '')
  if (inner !== reason && isRefusalReason(inner)) return refusalWords[inner]
  return {
    meaning: 'The gateway refused it for a reason of its own.',
    cause: 'Only the program of the gateway knows: this version has no words for it.',
    fix: 'Look for the reason in the program of the gateway.',
  }
}
