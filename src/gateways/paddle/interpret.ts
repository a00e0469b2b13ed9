import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../gateway.ts'
import { paddleApi, type PaddleApi } from './api.ts'
import { interpretAdjustment } from './interpret-adjustment.ts'
import { cardDeleted, cardSaved } from './interpret-payment-method.ts'
import { interpretTransaction } from './interpret-transaction.ts'
import { readEvent, type PaddleEvent } from './payload.ts'

/** What a notification states. Throws only where the API fails, so that it is tried again. */
export async function interpretPaddle(
  payload: Payload,
  context: InterpretContext,
): Promise<Outcome> {
  const read = readEvent(payload)
  if (!read.ok) return read.outcome
  const { event } = read
  const handler = handlers.get(event.type)
  if (handler === undefined) return ignored('unhandled_event', detail(event.type))
  return handler(event, paddleApi(context))
}

type Handler = (event: PaddleEvent, api: PaddleApi | undefined) => Outcome | Promise<Outcome>

const nothingHappened: Handler = ({ type }) => ignored('no_outcome', type)

// A Map: an event type is the sender's text and must not reach a prototype.
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['transaction.completed', interpretTransaction],
  ['transaction.paid', interpretTransaction],
  ['transaction.payment_failed', interpretTransaction],
  ['transaction.canceled', interpretTransaction],
  ['transaction.created', nothingHappened],
  ['transaction.ready', nothingHappened],
  ['transaction.updated', nothingHappened],
  ['transaction.billed', nothingHappened],
  ['transaction.revised', nothingHappened],
  ['adjustment.created', interpretAdjustment],
  ['adjustment.updated', interpretAdjustment],
  ['payment_method.saved', cardSaved],
  ['payment_method.deleted', cardDeleted],
])

/** The types of events that something is done with: the ones to subscribe to. */
export const handledEvents: readonly string[] = Array.from(handlers, ([type, handler]) =>
  handler === nothingHappened ? [] : [type],
).flat()
