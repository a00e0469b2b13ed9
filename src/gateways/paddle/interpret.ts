import { ignored, type Outcome } from '../../payments/outcome.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { paddleApi, type PaddleApi } from './api.ts'
import { cardDeleted, cardSaved } from './read-payment-method.ts'
import { readTransaction } from './read-transaction.ts'
import { readReturnedMoney } from './read-returned-money.ts'
import { readEvent, type PaddleEvent } from './payload.ts'

/** What a notification states. Throws only if the API fails, so that it is retried. */
export async function interpretPaddle(
  payload: Payload,
  context: InterpretContext,
): Promise<readonly Outcome[]> {
  const read = readEvent(payload)
  if (!read.ok) return [read.outcome]
  const { event } = read
  const handler = handlers.get(event.type)
  if (handler === undefined) return [ignored('unhandled_event', detail(event.type))]
  return handler(event, paddleApi(context), context)
}

type Handler = (
  event: PaddleEvent,
  api: PaddleApi | undefined,
  context: InterpretContext,
) => Promise<readonly Outcome[]>

/** An event that states one thing. */
function alone(
  read: (event: PaddleEvent, api: PaddleApi | undefined) => Outcome | Promise<Outcome>,
): Handler {
  return async (event, api) => [await read(event, api)]
}

const nothingHappened = alone(({ type }) => ignored('no_outcome', type))
const onTransaction = alone((event, api) => readTransaction(event, api))

// A Map: an event type is the sender's text and must not reach a prototype.
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['transaction.completed', onTransaction],
  ['transaction.paid', onTransaction],
  ['transaction.payment_failed', onTransaction],
  ['transaction.canceled', onTransaction],
  ['transaction.created', nothingHappened],
  ['transaction.ready', nothingHappened],
  ['transaction.updated', nothingHappened],
  ['transaction.billed', nothingHappened],
  ['transaction.revised', nothingHappened],
  ['adjustment.created', readReturnedMoney],
  ['adjustment.updated', readReturnedMoney],
  ['payment_method.saved', alone(cardSaved)],
  ['payment_method.deleted', alone(cardDeleted)],
])

/** The types of events that we use: the ones to subscribe to. */
export const handledEvents: readonly string[] = Array.from(handlers, ([type, handler]) =>
  handler === nothingHappened ? [] : [type],
).flat()
