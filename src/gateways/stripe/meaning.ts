import { ignored, type Outcome, type PaymentOutcome } from '../../payments/outcome.ts'
import type { JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { shownField, type StatedMoney } from './fields.ts'
import { accountStatement, type Snapshot } from './payload.ts'
import { readReference } from './reference.ts'

/** The status that an object means; `undecided` says which field leaves it open. */
export type Meaning = PaymentOutcome['status'] | { readonly undecided: string }

export function undecided(object: JsonObject, field: string): Meaning {
  return { undecided: shownField(object, field) }
}

interface Finding {
  readonly meaning: Meaning
  readonly money: StatedMoney
  readonly references: Pick<PaymentOutcome, 'checkoutReference' | 'providerReference'>
}

/** The outcome of an object that carries our payment's id, or was fetched for our payment. */
export function toOutcome(snapshot: Snapshot, object: JsonObject, finding: Finding): Outcome {
  const { meaning, money, references } = finding
  const { fetchedFor } = snapshot
  const reference = readReference(object, fetchedFor)
  if (!reference.ok) return reference.outcome
  if (typeof meaning !== 'string') return ignored('no_outcome', detail(meaning.undecided))
  return {
    type: 'payment',
    payment: { id: reference.paymentId },
    status: meaning,
    ...money,
    ...accountStatement(snapshot),
    ...references,
  }
}
