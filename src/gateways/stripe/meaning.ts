import { ignored, type Outcome, type PaymentOutcome } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { shownField, type StatedMoney } from './fields.ts'
import { accountStatement, type Snapshot } from './payload.ts'
import {
  claimIn,
  noReference,
  statedReference,
  toReference,
  type ReferenceResult,
} from './reference.ts'

/**
 * The status that an object means. `undecided` names the field that leaves it open. `money`: it is
 * about money all the same, in a word that we do not know, or one that contradicts its event.
 */
export type Meaning =
  | PaymentOutcome['status']
  | { readonly undecided: string; readonly money: boolean }

export function undecided(object: JsonObject, field: string, { money = false } = {}): Meaning {
  return { undecided: shownField(object, field), money }
}

interface Finding {
  readonly meaning: Meaning
  readonly money: StatedMoney
  readonly references: Pick<
    PaymentOutcome,
    'checkoutReference' | 'providerReference' | 'subscriptionReference'
  >
}

/** The outcome of an object that carries our payment's id, or was fetched for our payment. */
export function toOutcome(snapshot: Snapshot, object: JsonObject, finding: Finding): Outcome {
  const { meaning, money, references } = finding
  const named = nameOf(snapshot, object, references)
  if ('outcome' in named) return named.outcome
  if (typeof meaning !== 'string') {
    const about = meaning.money ? { money: true, ...named } : {}
    return ignored('no_outcome', detail(meaning.undecided), about)
  }
  return {
    type: 'payment',
    ...named,
    status: meaning,
    ...money,
    ...accountStatement(snapshot),
    ...references,
  }
}

/**
 * By what our server has written; otherwise by the checkout and what its payer may have written.
 */
function nameOf(
  { fetchedFor }: Snapshot,
  object: JsonObject,
  { checkoutReference }: Finding['references'],
): Pick<PaymentOutcome, 'payment' | 'claimed'> | Extract<ReferenceResult, { ok: false }> {
  const stated = statedReference(object) ?? (fetchedFor && toReference(fetchedFor))
  if (stated) return stated.ok ? { payment: { id: stated.paymentId } } : stated
  const claimed = checkoutReference === undefined ? undefined : claimIn(object)
  if (checkoutReference === undefined || claimed === undefined) return noReference
  return { payment: { checkoutReference }, claimed }
}
