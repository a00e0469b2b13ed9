import { minutes } from '../../kernel/duration.ts'
import { isQuittanceError, QuittanceError } from '../../kernel/errors.ts'
import { isJsonObject, path, textOf, type JsonObject, type JsonValue } from '../body/json.ts'
import { parseJson } from '../body/parse-json.ts'
import { detail } from '../detail.ts'

/** Fields as Stripe nests them: `metadata[payment_id]`. */
export type Form = Readonly<Record<string, string>>

/** A request that changes something. */
export interface Change {
  readonly method: 'POST' | 'DELETE'
  readonly path: string
  readonly form?: Form
  /** Under one key Stripe does a thing once. https://docs.stripe.com/api/idempotent_requests */
  readonly idempotencyKey?: string
}

/** The object that came of it; or why a card was declined, with the intent that names it. */
export type StripeReply =
  | { readonly kind: 'done'; readonly object: JsonObject }
  | { readonly kind: 'declined'; readonly error: JsonObject }

interface Target {
  readonly base: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Whoever asks sets a shorter one by his signal. */
const sendLimit = minutes(1)

/**
 * Sent once. Not by way of `ProviderApi`, whose errors keep nothing of a declined card's intent.
 * Errors: `provider_refused` where nothing was done, `provider_unreachable` and
 * `provider_reply_invalid` where nobody knows.
 */
export async function send(change: Change, target: Target): Promise<StripeReply> {
  const what = `${change.method} /${change.path}`
  const reply = await exchange(change, target, what)
  const error = path(reply.body ?? null, 'error')
  if (isJsonObject(error) && textOf(error.get('type')) !== undefined) {
    return failed(what, reply.status, error)
  }
  const parsed = reply.body
  if (reply.status >= 200 && reply.status < 300 && isJsonObject(parsed)) {
    return { kind: 'done', object: parsed }
  }
  if (reply.status < 500) throw notAskedFor(what)
  throw new QuittanceError('provider_unreachable', `Stripe answered ${what} with ${reply.status}`)
}

/** The object that came of it. A declined card is a refusal where nobody asked for a charge. */
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

/** A reply about something else: nobody knows what was done. */
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

/** What Stripe may have done all the same: time-outs, conflicts, others' failures, rate limits. */
const openStatuses: ReadonlySet<number> = new Set([408, 409, 424, 429])

/** https://docs.stripe.com/api/errors */
function failed(what: string, status: number, error: JsonObject): StripeReply {
  const type = textOf(error.get('type'))
  if (status === 402 && type === 'card_error') return { kind: 'declined', error }
  // Its key was used before: what that request did is not known here.
  const open = openStatuses.has(status) || type === 'idempotency_error'
  if (status >= 400 && status < 500 && !open) throw refusal(what, error)
  const code = codeOf(error)
  const text = `Stripe answered ${what} with ${status} (${code})`
  throw new QuittanceError('provider_unreachable', text, { providerCode: code })
}

function codeOf(error: JsonObject): string {
  return detail(textOf(error.get('code')) ?? textOf(error.get('type')) ?? 'no code')
}

interface Reply {
  readonly status: number
  /** Undefined: no JSON. */
  readonly body: JsonValue | undefined
}

async function exchange(change: Change, target: Target, what: string): Promise<Reply> {
  const { base, headers, signal } = target
  const { form, idempotencyKey } = change
  const late = AbortSignal.timeout(sendLimit)
  try {
    const response = await fetch(`${base.replace(/\/+$/, '')}/${change.path}`, {
      method: change.method,
      headers: {
        accept: 'application/json',
        ...headers,
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(form !== undefined && { body: new URLSearchParams(form) }),
      // A credential goes to the host that was configured, and to no other.
      redirect: 'error',
      signal: AbortSignal.any([signal, late]),
    })
    const parsed = parseJson(await response.text())
    return { status: response.status, body: parsed.ok ? parsed.value : undefined }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const cause = late.aborted ? 'no reply in time' : causeOf(error)
    throw new QuittanceError('provider_unreachable', `Stripe did not answer ${what}: ${cause}`)
  }
}

/** The system's code of the failure. Messages are left out: one may repeat a header's value. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const isCoded = cause instanceof Error && 'code' in cause && typeof cause.code === 'string'
  return isCoded ? String(cause.code) : 'the request failed'
}
