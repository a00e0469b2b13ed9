import { ignored, type Outcome } from '../../payments/outcome.ts'
import { path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import { isHttpUrl } from '../is-http-url.ts'
import type { Standing } from '../operations.ts'
import { modeOf } from './fetched.ts'
import { shownField } from './fields.ts'
import { intentCanceled, intentFailed, intentSucceeded } from './read-intent.ts'
import { isId, type Snapshot } from './payload.ts'
import type { Polled } from './polled.ts'

/** An intent on its own: of a saved card, or of the merchant's own checkout. */
export function pollIntent(snapshot: Snapshot, intent: JsonObject): Polled {
  const id = intent.get('id')
  const isPaid = intent.get('status') === 'succeeded'
  const url = redirectOf(intent)
  return {
    outcomes: [intentNow(snapshot, intent)],
    standing: standingOf(intent),
    intents: isPaid && isId(id, 'pi_') ? [id] : undefined,
    checkout: {
      ...(isId(id, 'pi_') && { providerReference: id }),
      ...(url !== undefined && { url }),
      ...modeOf(intent),
    },
  }
}

/** As the last event about its state said. */
export function intentNow(snapshot: Snapshot, intent: JsonObject): Outcome {
  const status = intent.get('status')
  if (status === 'succeeded') return intentSucceeded(snapshot)
  if (status === 'canceled') return intentCanceled(snapshot)
  if (isDeclined(intent)) return intentFailed(snapshot)
  return ignored('no_outcome', detail(`payment_intent ${shownField(intent, 'status')}`))
}

/** The last try failed, and no other has begun. */
export function isDeclined(intent: JsonObject): boolean {
  const isWaiting = intent.get('status') === 'requires_payment_method'
  return isWaiting && (intent.get('last_payment_error') ?? null) !== null
}

/** https://docs.stripe.com/payments/paymentintents/lifecycle */
const standings: ReadonlyMap<unknown, Standing> = new Map<unknown, Standing>([
  ['requires_payment_method', 'open'],
  ['requires_confirmation', 'open'],
  ['requires_action', 'open'],
  ['processing', 'undecided'],
  ['requires_capture', 'undecided'],
  ['succeeded', 'paid'],
  ['canceled', 'unpaid'],
])

/** How an intent stands, judged only by its status. */
export function standingOf(intent: JsonObject): Standing {
  return standings.get(intent.get('status')) ?? 'unclear'
}

/** Where the payer confirms it (3-D Secure). */
export function redirectOf(intent: JsonObject): string | undefined {
  const url = textOf(path(intent, 'next_action', 'redirect_to_url', 'url'))
  return url !== undefined && isHttpUrl(url) ? url : undefined
}
