import type { Standing } from '../gateways/operations.ts'
import type { Payment } from '../payments/payment.ts'
import type { IgnoredReason } from '../payments/reasons.ts'
import { isMarked, type Applied } from '../outcomes/applied.ts'

/** The result of a poll, once its outcomes are applied. */
export interface Polled {
  /** As it is now. */
  readonly payment: Payment
  readonly standing: Standing
  readonly applied: readonly Applied[]
}

/**
 * Why a person should look at what the provider says; undefined if all of it is understood. Until a
 * person has looked, nothing is decided: no payment is canceled, and no refund has failed.
 */
export function reviewOf(polled: Polled): string | undefined {
  const found = oddityOf(polled)
  return found && mark + found
}

const mark = 'needs a review: '
const looked = 'looked at: '

/** What is wrong, without the mark before it. */
export function oddityIn(review: string): string {
  return review.slice(mark.length)
}

/** The same once a person has looked: it stays as odd. */
export function lookedAt(review: string): string {
  return looked + oddityIn(review)
}

export function isMarkedByPoll(pollError: string | null): boolean {
  return pollError?.startsWith(mark) === true
}

export function isLookedAt(pollError: string | null): boolean {
  return pollError?.startsWith(looked) === true
}

/** What counts and still needs a person, in the words of a call's mark. */
export function noteOf(applied: readonly Applied[]): string | undefined {
  const found = applied.flatMap((one) => {
    if (one.kind === 'ignored' || !isMarked(one)) return []
    const { type, detail } = one.kind === 'claim' ? one : one.result
    return detail === undefined ? type : `${type} (${detail})`
  })
  return found[0] && mark + found[0]
}

function oddityOf({ payment, standing, applied }: Polled): string | undefined {
  const ignored = applied.filter((one) => one.kind === 'ignored')
  const flagged = ignored.find(({ review }) => review)
  if (flagged !== undefined) return shown(flagged)
  const said = shown(ignored[0]) ?? 'nothing that it says settles the payment'
  if (standing === 'unclear') return said
  if (payment.status === 'paid') return undefined
  switch (standing) {
    case 'paid':
      return said
    case 'undecided':
      return undefined
    case 'absent':
      return isKnown(payment) ? 'the provider does not know what it has named itself' : undefined
    case 'open':
    case 'unpaid':
      return applied.some(isRefund)
        ? 'a refund of what nobody has paid'
        : shown(ignored.find(({ result }) => !fitsUnpaid.has(result.reason)))
    default:
      return unknownStanding(standing)
  }
}

/** Of a gateway that was made for another version, which no type has checked. */
function unknownStanding(standing: never): string {
  return `the gateway answers with an unknown standing (${JSON.stringify(standing)})`
}

type Ignored = Applied & { readonly kind: 'ignored' }

/** `no_outcome (session status something_new)`. */
function shown(ignored: Ignored | undefined): string | undefined {
  if (ignored === undefined) return undefined
  const { reason, detail } = ignored.result
  return detail === undefined ? reason : `${reason} (${detail})`
}

/** By an id of the provider's: if the provider does not know it, the credentials have changed. */
function isKnown({ checkoutReference, providerReference }: Payment): boolean {
  return checkoutReference !== null || providerReference !== null
}

/**
 * Any other reason means that the provider's answer is about something else, or in unknown words.
 */
const fitsUnpaid: ReadonlySet<IgnoredReason> = new Set(['no_outcome', 'already_settled'])

function isRefund(applied: Applied): boolean {
  const type = applied.kind === 'claim' ? applied.type : applied.result.type
  return type.startsWith('refund')
}
