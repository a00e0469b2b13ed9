import { titleWithName } from '../gateways/accounts.ts'
import { mayBeAsked } from '../database/may-be-asked.ts'
import { recordActivity, type NewActivity } from '../database/payment-activity.ts'
import type { OperationContext } from '../gateways/interpret-context.ts'
import type { RegisteredGateway } from '../gateways/registry.ts'
import { requireGateway } from '../gateways/require.ts'
import { isQuittanceError, QuittanceError, type ErrorCode } from '../kernel/errors.ts'
import { blankedOut } from '../kernel/safe-error.ts'
import { inSpan, type SpanAbout } from '../kernel/spans.ts'
import { within } from '../kernel/within.ts'
import type { Payment } from '../payments/payment.ts'
import type { MoneyContext, ProviderContext } from './context.ts'

/** The gateway of a payment. Error: `gateway_unknown`. */
export function gatewayOf({ gateway }: Payment, { processing }: MoneyContext): RegisteredGateway {
  return requireGateway(processing.gateways, gateway)
}

/** What a provider is asked, as it is counted. */
export type ProviderOperation =
  | 'checkout'
  | 'close_checkout'
  | 'charge'
  | 'poll'
  | 'refund'
  | 'remove_saved_card'
  | 'read_subscription'
  | 'change_subscription'
  | 'registration'

export interface Question {
  readonly of: RegisteredGateway
  readonly operation: ProviderOperation
  readonly payment?: Pick<Payment, 'id'>
}

/** Asks a provider, with a time limit; no transaction is open. Error: `provider_unreachable`. */
export async function askProvider<T>(
  question: Question,
  context: ProviderContext,
  ask: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  const begun = performance.now()
  const count = (result: string) => countAnswer(question, context, { begun, result })
  return inSpan(
    context.processing.spans?.active,
    () => aboutQuestion(question),
    async (span) => {
      try {
        const answer = await askInTime(question, context, ask)
        count('answered')
        return answer
      } catch (error) {
        // A word, not the provider's text.
        span?.failed(resultOf(error))
        count(resultOf(error))
        // Whoever asked is shown it.
        throw blankedOut(error, context.processing.scrub)
      }
    },
  )
}

function aboutQuestion({ of: { gateway }, operation, payment }: Question): SpanAbout {
  const attributes = {
    'quittance.gateway': gateway.name,
    'quittance.operation': operation,
    'quittance.payment.id': payment?.id,
  }
  return { name: `provider ${operation}`, kind: 'CLIENT', attributes }
}

/**
 * Asks once for a checkout or a refund, if the time for that is not over: see `mayBeAsked`. Errors:
 * those of `askAbout`; `provider_unreachable` if the provider is not asked any more.
 */
export function askOnce<T>(
  question: QuestionAbout<T>,
  { row, ...context }: MoneyContext & { readonly row: Pick<Payment, 'id'> },
  ask: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  return askAbout(question, context, async (operation) => {
    // Within the time for an answer: whatever keeps this process, nothing leaves later.
    const [mayAsk] = await mayBeAsked(context.processing.database.db, [row.id])
    if (mayAsk === true) return ask(operation)
    const title = titleWithName(question.of.gateway)
    throw new QuittanceError(
      'provider_unreachable',
      `${title} was not asked: it is too late for that`,
    )
  })
}

/** What is kept of an answer about a payment: null, if there is nothing else to say of it. */
export interface QuestionAbout<T> extends Question {
  readonly payment: Pick<Payment, 'id'>
  describe(answer: T): string | null
  /** Answers leave a trace of another kind. */
  readonly keepsFailuresOnly?: true
}

/** The same about a payment: what came of it is kept in the payment's history. */
export async function askAbout<T>(
  question: QuestionAbout<T>,
  context: MoneyContext,
  ask: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  const begun = performance.now()
  const keep = (result: string, detail: string | null) =>
    keepActivity(question, context, { result, detail, durationMs: performance.now() - begun })
  try {
    const answer = await askProvider(question, context, ask)
    if (question.keepsFailuresOnly !== true) await keep('answered', question.describe(answer))
    return answer
  } catch (error) {
    await keep(resultOf(error), failureText(error, context))
    throw error
  }
}

/** Best effort: an answer about money is never lost for it. */
export async function keepActivity(
  { payment, operation }: QuestionAbout<never>,
  { processing }: MoneyContext,
  { durationMs, ...answer }: Pick<NewActivity, 'result' | 'detail' | 'durationMs'>,
): Promise<void> {
  const { database, log, newId } = processing
  const about = { id: newId(), paymentId: payment.id, operation }
  try {
    await recordActivity(database.db, { ...about, ...answer, durationMs: Math.round(durationMs) })
  } catch (error) {
    log.warn({ err: error, payment: payment.id }, 'what a provider answered was not kept')
  }
}

function resultOf(error: unknown): string {
  return isQuittanceError(error) ? (failures.get(error.code) ?? 'failed') : 'failed'
}

const failures: ReadonlyMap<string, string> = new Map<ErrorCode, string>([
  ['provider_refused', 'refused'],
  ['provider_reply_invalid', 'invalid'],
  ['provider_unreachable', 'unreachable'],
])

function countAnswer(
  { of, operation }: Question,
  { processing: { numbers } }: ProviderContext,
  { begun, result }: { readonly begun: number; readonly result: string },
): void {
  const { name: gateway } = of.gateway
  numbers.add('provider_requests_total', { gateway, operation, result })
  const seconds = (performance.now() - begun) / 1000
  numbers.histogram('provider_request_seconds', { gateway, operation }).observe(seconds)
}

function askInTime<T>(
  { of: { gateway, credentials } }: Question,
  context: ProviderContext,
  ask: (operation: OperationContext) => Promise<T>,
): Promise<T> {
  const { answerWithin, processing } = context
  const late = () =>
    new QuittanceError(
      'provider_unreachable',
      `${titleWithName(gateway)} did not answer within ${answerWithin / 1000} s`,
    )
  return within(answerWithin, late, (signal) =>
    ask({ credentials, log: processing.log, signal, now: context.now() }),
  )
}

const refusals: ReadonlySet<string> = new Set<ErrorCode>([
  'provider_refused',
  'gateway_not_configured',
  'payment_invalid',
  'payment_method_unusable',
  'gateway_unknown',
  'operation_unsupported',
])

/** Whether it is certain that nothing was done: the provider said no, or was not even asked. */
export function isRefusal(error: unknown): error is QuittanceError {
  return isQuittanceError(error) && refusals.has(error.code)
}

/** The text that is stored of a failed request: bounded, and without a secret. */
export function failureText(error: unknown, { processing }: MoneyContext): string {
  const text = error instanceof Error ? error.message : String(error)
  return processing.scrub(text).slice(0, 500)
}
