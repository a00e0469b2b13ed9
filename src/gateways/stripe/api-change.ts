import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import type { ProviderApi } from '../api/provider-api.ts'
import type { ProviderAnswer } from '../api/exchange.ts'
import { isJsonObject, path, textOf, type JsonObject } from '../body/json.ts'
import { detail } from '../detail.ts'

/** Fields as Stripe nests them: `metadata[payment_id]`. */
export type Form = Readonly<Record<string, string>>

/** A request that changes something. */
export interface Change {
  readonly method: 'post' | 'delete'
  readonly path: string
  readonly form?: Form
  /**
   * With the same key Stripe does something only once.
   * https://docs.stripe.com/api/idempotent_requests
   */
  readonly idempotencyKey?: string
}

/** The resulting object; or why a card was declined, with the intent that names it. */
export type StripeReply =
  | { readonly kind: 'done'; readonly object: JsonObject }
  | { readonly kind: 'declined'; readonly error: JsonObject }

interface Sender {
  readonly api: ProviderApi
  readonly signal: AbortSignal
}

/**
 * Sent once. A refusal is read here, because that of a declined card names its intent. Errors:
 * `provider_refused` if nothing was done; `provider_unreachable` and `provider_reply_invalid` if
 * that is unknown.
 */
export async function send(change: Change, sender: Sender): Promise<StripeReply> {
  const what = `${change.method.toUpperCase()} /${change.path}`
  const { status, body } = await answerTo(change, sender)
  const error = path(body ?? null, 'error')
  if (isJsonObject(error) && textOf(error.get('type')) !== undefined) {
    return failed(what, status, error)
  }
  if (status >= 200 && status < 300 && isJsonObject(body)) return { kind: 'done', object: body }
  if (status < 500) throw notAskedFor(what)
  throw new QuittanceError('provider_unreachable', `Stripe answered ${what} with ${status}`)
}

function answerTo(change: Change, { api, signal }: Sender): Promise<ProviderAnswer> {
  const { method, path: asked, form, idempotencyKey } = change
  return api.answer(method, asked, {
    signal,
    ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    ...(form !== undefined && { body: { form } }),
  })
}

/** The resulting object. A declined card is a refusal if no charge was requested. */
export async function done(reply: Promise<StripeReply>): Promise<JsonObject> {
  const answered = await reply
  if (answered.kind === 'done') return answered.object
  throw refusal('a card', answered.error)
}

/** Stripe's refusal, by its own code. */
export function refusal(what: string, error: JsonObject): QuittanceError {
  const code = codeOf(error)
  return new QuittanceError('provider_refused', `Stripe refused ${what} (${code})`, {
    providerCode: code,
  })
}

/** A reply about something else: it is unknown what was done. */
export function notAskedFor(what: string): QuittanceError {
  return new QuittanceError(
    'provider_reply_invalid',
    `Stripe answered ${what} with something else than was asked for`,
  )
}

/** Whether Stripe said that it did nothing. */
export function isRefusal(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && error.code === 'provider_refused'
}

/**
 * Stripe may have done these all the same: time-outs, conflicts, failures elsewhere, rate limits.
 */
const openStatuses: ReadonlySet<number> = new Set([408, 409, 424, 429])

/** https://docs.stripe.com/api/errors */
function failed(what: string, status: number, error: JsonObject): StripeReply {
  const type = textOf(error.get('type'))
  if (status === 402 && type === 'card_error') return { kind: 'declined', error }
  // Its key was used before; what that request did is unknown here.
  const open = openStatuses.has(status) || type === 'idempotency_error'
  if (status >= 400 && status < 500 && !open) throw refusal(what, error)
  const code = codeOf(error)
  const text = `Stripe answered ${what} with ${status} (${code})`
  throw new QuittanceError('provider_unreachable', text, { providerCode: code })
}

function codeOf(error: JsonObject): string {
  return detail(textOf(error.get('code')) ?? textOf(error.get('type')) ?? 'no code')
}
