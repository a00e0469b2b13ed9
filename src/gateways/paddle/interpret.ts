import { ignored, type Outcome } from '../../payments/outcome.ts'
import { isJsonObject } from '../body/json.ts'
import type { Payload } from '../body/payload.ts'
import { detail } from '../detail.ts'
import type { InterpretContext } from '../interpret-context.ts'
import { paddleApi, type PaddleApi } from './api.ts'
import { cardDeleted, cardSaved } from './read-payment-method.ts'
import { readInvoice } from './read-invoice.ts'
import { readTransaction } from './read-transaction.ts'
import { readReturnedMoney } from './read-returned-money.ts'
import { isId, readEntity, readEvent, type PaddleEvent } from './payload.ts'

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

/** What it states of the payment, and the document that there is of it by now. */
const onTransaction: Handler = async (event, api) => [
  await readTransaction(event, api),
  ...documentIn(event),
]

/**
 * It pays nothing, but issues a document, whose number comes right after. An invoice that is sent to
 * the customer is worth asking for it; what Paddle charges by itself is `completed` soon.
 * https://developer.paddle.com/webhooks/transactions/transaction-billed
 */
const onBilled: Handler = async (event, api) => {
  const stated = documentIn(event)
  const documents = stated.length > 0 ? stated : await numberedDocument(event, api)
  return documents.length > 0 ? documents : [ignored('no_outcome', event.type)]
}

async function numberedDocument(
  event: PaddleEvent,
  api: PaddleApi | undefined,
): Promise<readonly Outcome[]> {
  const read = readEntity(event, 'txn_')
  if (!read.ok || read.entity.get('collection_mode') !== 'manual') return []
  return documentIn({ ...event, data: await api?.get('transactions', read.id) })
}

function documentIn({ data }: PaddleEvent): readonly Outcome[] {
  const invoice = isJsonObject(data) ? readInvoice(data) : undefined
  return invoice === undefined ? [] : [invoice]
}

/**
 * It says only what has changed: how the subscription stands is asked, so that the order of events means nothing. Paddle
 * names the transaction that began it in `subscription.created` alone; custom data are the page's.
 */
const onSubscription = alone((event, api) => {
  if (api === undefined) return ignored('unhandled_event', event.type)
  const read = readEntity(event, 'sub_')
  if (!read.ok) return { ...read.outcome, money: false }
  const begunBy = read.entity.get('transaction_id')
  const payment = isId(begunBy, 'txn_') ? { payment: { checkoutReference: begunBy } } : {}
  return { type: 'subscription', reference: read.id, ...payment }
})

// A Map: an event type is the sender's text and must not reach a prototype.
const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['transaction.completed', onTransaction],
  ['transaction.paid', onTransaction],
  ['transaction.payment_failed', onTransaction],
  ['transaction.canceled', onTransaction],
  ['transaction.past_due', onTransaction],
  ['transaction.billed', onBilled],
  ['transaction.created', nothingHappened],
  ['transaction.ready', nothingHappened],
  ['transaction.updated', nothingHappened],
  ['transaction.revised', nothingHappened],
  ['adjustment.created', readReturnedMoney],
  ['adjustment.updated', readReturnedMoney],
  ['payment_method.saved', alone(cardSaved)],
  ['payment_method.deleted', alone(cardDeleted)],
  ['subscription.created', onSubscription],
  ['subscription.imported', onSubscription],
  ['subscription.trialing', onSubscription],
  ['subscription.activated', onSubscription],
  ['subscription.updated', onSubscription],
  ['subscription.past_due', onSubscription],
  ['subscription.paused', onSubscription],
  ['subscription.resumed', onSubscription],
  ['subscription.canceled', onSubscription],
])

/** The types of events that we use: the ones to subscribe to. */
export const handledEvents: readonly string[] = Array.from(handlers, ([type, handler]) =>
  handler === nothingHappened ? [] : [type],
).flat()
