import { ignored, type Outcome } from '../../payments/outcome.ts'
import { isJsonObject, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { Standing } from '../operations.ts'
import type { LookUps } from './api.ts'
import { checkoutOf } from './checkout.ts'
import { shownField } from './fields.ts'
import { payingIntents } from './invoice.ts'
import { isId, type Snapshot } from './payload.ts'
import { isDeclined, standingOf } from './poll-intent.ts'
import type { Polled } from './polled.ts'
import { sessionCompleted, sessionExpired, sessionFailed, sessionOutcome } from './session.ts'

/** A session that was fetched with its intent. */
export async function pollSession(
  snapshot: Snapshot,
  session: JsonObject,
  lookUps: LookUps,
): Promise<Polled> {
  const value = session.get('payment_intent')
  const intent = isJsonObject(value) ? value : undefined
  const id = intent?.get('id') ?? null
  // As an event has it: with the intent's id alone.
  const object = new Map(session).set('payment_intent', id)
  const { outcomes, standing } = await sessionNow(
    { ...snapshot, object },
    { session, intent },
    lookUps,
  )
  return {
    outcomes,
    standing,
    intents: await intentsOf(object, lookUps),
    checkout: { ...checkoutOf(session), ...(isId(id, 'pi_') && { providerReference: id }) },
  }
}

/** The intents that have paid it: of a subscription's checkout, those of its first invoice. */
async function intentsOf(
  session: JsonObject,
  { api }: LookUps,
): Promise<readonly string[] | undefined> {
  const unpaid = session.get('status') !== 'complete' || session.get('payment_status') === 'unpaid'
  if (unpaid) return undefined
  const intent = session.get('payment_intent')
  const invoice = session.get('invoice')
  if (isId(intent, 'pi_')) return [intent]
  return isId(invoice, 'in_') && api !== undefined ? payingIntents(invoice, api) : []
}

interface WithIntent {
  readonly session: JsonObject
  readonly intent: JsonObject | undefined
}

/** As the event said that told of its state last. */
async function sessionNow(
  snapshot: Snapshot,
  { session, intent }: WithIntent,
  lookUps: LookUps,
): Promise<Pick<Polled, 'outcomes' | 'standing'>> {
  const status = session.get('status')
  if (status === 'expired') return { outcomes: [sessionExpired(snapshot)], standing: 'over' }
  if (status === 'complete') return completeNow(snapshot, { session, intent }, lookUps)
  const said = detail(`session ${shownField(session, 'status')}`)
  const declined = intent !== undefined && isDeclined(intent)
  const settling = intent !== undefined && isAhead(intent)
  return {
    outcomes: [declined ? sessionFailed(snapshot) : ignored('no_outcome', said)],
    standing: settling ? 'settling' : 'open',
  }
}

/** An intent is ahead of its session for a moment. */
function isAhead(intent: JsonObject): boolean {
  return intent.get('status') === 'succeeded' || standingOf(intent) === 'settling'
}

/** Its payer is done with it; where it is not paid, a slow method decides by way of the intent. */
async function completeNow(
  snapshot: Snapshot,
  { session, intent }: WithIntent,
  lookUps: LookUps,
): Promise<Pick<Polled, 'outcomes' | 'standing'>> {
  const over = (outcome: Outcome) => ({ outcomes: [outcome], standing: 'over' as const })
  if (session.get('payment_status') === 'unpaid' && intent !== undefined) {
    if (isDeclined(intent)) return over(sessionFailed(snapshot))
    if (intent.get('status') === 'canceled') return over(sessionOutcome(snapshot, () => 'canceled'))
  }
  const standing: Standing = session.get('payment_status') === 'unpaid' ? 'settling' : 'over'
  return { outcomes: await sessionCompleted(snapshot, lookUps), standing }
}
