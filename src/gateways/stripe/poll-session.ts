import { ignored, type Outcome } from '../../payments/outcome.ts'
import { isJsonObject, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import { detail } from '../detail.ts'
import type { Standing } from '../operations.ts'
import type { LookUps } from './api.ts'
import { checkoutOf } from './checkout.ts'
import { shownField } from './fields.ts'
import { payingIntents } from './read-invoice.ts'
import { lastErrorOf, withCode } from './declines.ts'
import { isId, type Snapshot } from './payload.ts'
import { isDeclined, standingOf } from './poll-intent.ts'
import type { Polled } from './polled.ts'
import { sessionCompleted, sessionExpired, sessionFailed, sessionOutcome } from './read-session.ts'

/** A session that was fetched with its intent. */
export async function pollSession(
  snapshot: Snapshot,
  session: JsonObject,
  lookUps: LookUps,
): Promise<Polled> {
  const value = session.get('payment_intent')
  const intent = isJsonObject(value) ? value : undefined
  const id = intent?.get('id') ?? null
  // As in an event: with only the intent's id.
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
    // Without its intent: until it is paid, another intent may replace this one.
    checkout: checkoutOf(session),
  }
}

const paidWords: ReadonlySet<unknown> = new Set(['paid', 'no_payment_required'])

/** The intents that have paid it; for a subscription's checkout, those of its first invoice. */
async function intentsOf(
  session: JsonObject,
  { api }: LookUps,
): Promise<readonly string[] | undefined> {
  const isPaid = paidWords.has(session.get('payment_status'))
  if (session.get('status') !== 'complete' || !isPaid) return undefined
  const intent = session.get('payment_intent')
  const invoice = session.get('invoice')
  if (isId(intent, 'pi_')) return [intent]
  return isId(invoice, 'in_') && api !== undefined ? payingIntents(invoice, api) : []
}

interface WithIntent {
  readonly session: JsonObject
  readonly intent: JsonObject | undefined
}

/** As the last event about its state said. */
async function sessionNow(
  snapshot: Snapshot,
  { session, intent }: WithIntent,
  lookUps: LookUps,
): Promise<Pick<Polled, 'outcomes' | 'standing'>> {
  switch (textOf(session.get('status')) ?? '') {
    case 'open':
      return openNow(snapshot, { session, intent })
    case 'complete':
      return completeNow(snapshot, { session, intent }, lookUps)
    case 'expired':
      return wasNotPaid({ session, intent })
        ? { outcomes: [sessionExpired(snapshot)], standing: 'unpaid' }
        : unclear(session)
    default:
      return unclear(session)
  }
}

const unpaidWords: ReadonlySet<unknown> = new Set(['unpaid', 'no_payment_required'])

/** Whether session and intent agree that no money was taken and none is on its way. */
function wasNotPaid({ session, intent }: WithIntent): boolean {
  const ofIntent = intentStanding({ session, intent })
  return unpaidWords.has(session.get('payment_status')) && /^(?:open|unpaid)$/.test(ofIntent)
}

/** Until the payer tries to pay, a session has no intent, or one that waits for the payer. */
function intentStanding({ session, intent }: WithIntent): Standing {
  if (intent !== undefined) return standingOf(intent)
  return (session.get('payment_intent') ?? null) === null ? 'open' : 'unclear'
}

function unclear(session: JsonObject): Pick<Polled, 'outcomes' | 'standing'> {
  const said = `session ${shownField(session, 'status')}, ${shownField(session, 'payment_status')}`
  return { outcomes: [ignored('no_outcome', detail(said))], standing: 'unclear' }
}

function openNow(
  snapshot: Snapshot,
  { session, intent }: WithIntent,
): Pick<Polled, 'outcomes' | 'standing'> {
  if (!unpaidWords.has(session.get('payment_status'))) return unclear(session)
  const said = detail(`session ${shownField(session, 'status')}`)
  const declined = intent !== undefined && isDeclined(intent)
  return {
    outcomes: [declined ? failedBy(intent, snapshot) : ignored('no_outcome', said)],
    standing: besideOpen[intentStanding({ session, intent })],
  }
}

function failedBy(intent: JsonObject, snapshot: Snapshot): Outcome {
  return withCode(sessionFailed(snapshot), lastErrorOf(intent))
}

/** An intent is ahead of its session for a moment; a canceled one is followed by another. */
const besideOpen = {
  open: 'open',
  unpaid: 'open',
  undecided: 'undecided',
  paid: 'undecided',
  absent: 'unclear',
  unclear: 'unclear',
} as const

/** The payer has finished; if it is not paid, a slow method decides through the intent. */
async function completeNow(
  snapshot: Snapshot,
  { session, intent }: WithIntent,
  lookUps: LookUps,
): Promise<Pick<Polled, 'outcomes' | 'standing'>> {
  const isUnpaid = session.get('payment_status') === 'unpaid'
  if (isUnpaid && intent !== undefined) {
    if (isDeclined(intent)) return { outcomes: [failedBy(intent, snapshot)], standing: 'unpaid' }
    if (intent.get('status') === 'canceled') {
      return { outcomes: [sessionOutcome(snapshot, () => 'canceled')], standing: 'unpaid' }
    }
  }
  if (isUnpaid && (await isVoid(session.get('invoice'), lookUps))) {
    return { outcomes: [sessionOutcome(snapshot, () => 'canceled')], standing: 'unpaid' }
  }
  const outcomes = await sessionCompleted(snapshot, lookUps)
  const isPaid = outcomes.some((outcome) => outcome.type === 'payment' && outcome.status === 'paid')
  if (isPaid) return { outcomes, standing: 'paid' }
  const isKnown = intentStanding({ session, intent }) !== 'unclear'
  return { outcomes, standing: isUnpaid && isKnown ? 'undecided' : 'unclear' }
}

/** What a slow method has not paid in time: the first invoice of a subscription that expired. */
async function isVoid(invoice: JsonValue | undefined, { api }: LookUps): Promise<boolean> {
  if (api === undefined || !isId(invoice, 'in_')) return false
  return (await api.get(`v1/invoices/${invoice}`))?.get('status') === 'void'
}
