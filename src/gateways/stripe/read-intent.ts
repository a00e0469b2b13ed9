import type { Outcome } from '../../payments/outcome.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import { lastErrorOf, withCode } from './declines.ts'
import { moneyOf } from './fields.ts'
import { toOutcome, undecided, type Meaning } from './meaning.ts'
import { malformed } from './malformed.ts'
import { readObject, type Snapshot } from './payload.ts'

/** https://docs.stripe.com/api/payment_intents/object */
function onIntent(snapshot: Snapshot, meaningOf: (intent: JsonObject) => Meaning): Outcome {
  const read = readObject(snapshot, 'payment_intent', 'pi_')
  if ('malformed' in read) return malformed(snapshot, read.malformed)
  const { object: intent, id: providerReference } = read
  const meaning = meaningOf(intent)
  const money = moneyOf(intent, meaning === 'paid' ? 'amount_received' : 'amount')
  return toOutcome(snapshot, intent, { meaning, money, references: { providerReference } })
}

export function intentSucceeded(snapshot: Snapshot): Outcome {
  return onIntent(snapshot, (intent) =>
    intent.get('status') === 'succeeded' ? 'paid' : undecided(intent, 'status', { money: true }),
  )
}

/** The same intent can still be paid: with another card, or with another try. */
export function intentFailed(snapshot: Snapshot): Outcome {
  const { object } = snapshot
  const error = isJsonObject(object) ? lastErrorOf(object) : null
  return withCode(
    onIntent(snapshot, () => 'failed'),
    error,
  )
}

export function intentCanceled(snapshot: Snapshot): Outcome {
  return onIntent(snapshot, (intent) =>
    intent.get('status') === 'canceled' ? 'canceled' : undecided(intent, 'status'),
  )
}
