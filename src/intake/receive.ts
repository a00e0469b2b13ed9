import { readJsonText } from '../gateways/body/parse-json-body.ts'
import type { Payload, UnparsedPayload } from '../gateways/body/payload.ts'
import type { Acknowledgment, RawRequest, Verdict } from '../gateways/gateway.ts'
import type { RegisteredGateway, Registry } from '../gateways/registry.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { NewId } from '../kernel/ids.ts'
import type { Log } from '../kernel/log.ts'
import type { Spans } from '../kernel/spans.ts'
import type { Tally } from '../kernel/tally.ts'
import type { AnswerCounts } from './count-answers.ts'
import type { NewCall } from './insert-calls.ts'
import { redactHeaders, redactUrl } from './redact.ts'
import type { RefusalSamples } from './sample-refusals.ts'
import * as responses from './responses.ts'
import type { Answer } from './responses.ts'
import type { CallStore } from './store-calls.ts'
import { storedContent } from './stored-content.ts'
import { traceCallback, type CallbackTrace } from './trace-callback.ts'

/** A callback as the route passes it on. */
export interface IncomingCall extends RawRequest {
  /** The `{gateway}` segment as sent. */
  readonly gateway: string
  /** The path and query as sent; stored below our own origin. */
  readonly target: string
  /** Whom the connection is of: only its network is kept, of a few refused callbacks. */
  readonly sender?: { readonly remoteAddress?: string | undefined } | undefined
  /** What the log calls the request. */
  readonly requestId?: string | undefined
}

export interface Intake {
  readonly gateways: Registry
  readonly calls: CallStore
  readonly clock: Clock
  readonly newId: NewId
  readonly log: Log
  /** For bodies that carry secrets; undefined if no key is set. */
  readonly cipher: Cipher | undefined
  /** Queue name written on new calls. */
  readonly queue: string
  /** Origin of stored URLs: never taken from the request. */
  readonly origin: string
  /** Set if this process handles calls before it answers (`sync`). */
  readonly atOnce: AtOnce | undefined
  /** Logs refusals, which anybody can cause any number of times. */
  readonly refusals: Tally
  /** What a few of them looked like. */
  readonly samples: RefusalSamples | undefined
  readonly counts: AnswerCounts
  /** Undefined without a tracer. */
  readonly spans?: Spans | undefined
}

export interface AtOnce {
  leaseToken(): string
  process(call: NewCall): Promise<AtOnceResult>
}

/**
 * The result of the first attempt: `done`, applied or ignored; `failed`, an attempt is used up;
 * `postponed`, none is. The last two are not acknowledged: a worker tries again, and so does the
 * gateway.
 */
export type AtOnceResult = 'done' | 'failed' | 'postponed'

/** The pipeline: gateway -> verify -> parse -> store (-> process at once) -> acknowledge. */
export async function receive(request: IncomingCall, intake: Intake): Promise<Answer> {
  const trace = intake.spans && traceCallback(intake.spans)
  const found = intake.gateways.find(request.gateway)
  if (found === undefined) {
    const refused = { request, found, trace, reason: 'unknown_gateway' }
    return notAccepted(responses.unknownGateway, refused, intake)
  }
  const { maxBodyBytes = Infinity } = found.gateway
  if (request.body.byteLength > maxBodyBytes) {
    const refused = { request, found, trace, reason: 'too_large' }
    return notAccepted(responses.bodyTooLarge, refused, intake)
  }

  const verdict = await verify(request, found, intake)
  if (!('valid' in verdict) || !verdict.valid)
    return answerRefused(verdict, { request, found, trace, intake })

  intake.counts.verified(found.gateway.name, verdict.secret ?? 1)

  const signed = { ...request, body: verdict.signedBody ?? request.body }
  const { payload, acknowledge } = read(signed, found)
  const call = newCall(signed, { payload, found, intake })
  const take = () => storeAndAcknowledge(call, acknowledge, intake)
  return trace === undefined ? take() : trace.accepted(call, take)
}

async function storeAndAcknowledge(
  call: NewCall,
  acknowledge: ReadCall['acknowledge'],
  intake: Intake,
): Promise<Answer> {
  if ((await intake.calls.store(call)) !== 'stored') return responses.unavailable
  const result = await intake.atOnce?.process(call)
  if (result === 'failed') return responses.processingFailed
  if (result === 'postponed') return responses.unavailable

  return acknowledged(acknowledge(intake.clock()))
}

interface ReadCall {
  readonly payload: Payload | UnparsedPayload
  acknowledge(now: Date): Acknowledgment
}

/** Only as much as has to be known before the answer. */
function read(signed: RawRequest, { gateway, credentials }: RegisteredGateway): ReadCall {
  const { answersUnread } = gateway
  if (answersUnread !== undefined) {
    return { payload: readJsonText(signed.body), acknowledge: () => answersUnread }
  }
  const payload = gateway.parse(signed)
  return { payload, acknowledge: (now) => gateway.acknowledge(payload, credentials, now) }
}

/** Fails closed: a gateway that is not configured, or whose verifier breaks, accepts nothing. */
async function verify(
  request: IncomingCall,
  { gateway, credentials }: RegisteredGateway,
  intake: Intake,
): Promise<Verdict> {
  if (!credentials.configured) return { valid: false, reason: 'not_configured' }
  try {
    return await gateway.verify(request, credentials, intake.clock())
  } catch (error) {
    const { requestId } = request
    intake.log.error({ err: error, gateway: gateway.name, requestId }, 'a verifier threw')
    return { valid: false, reason: 'verifier_threw' }
  }
}

interface RefusedCall {
  readonly request: IncomingCall
  readonly found: RegisteredGateway
  readonly trace: CallbackTrace | undefined
  readonly intake: Intake
}

function answerRefused(
  verdict: Exclude<Verdict, { readonly valid: true }>,
  { intake, ...refused }: RefusedCall,
): Answer {
  const { name } = refused.found.gateway
  const { requestId } = refused.request
  if ('malformed' in verdict) {
    const answer = responses.malformed(verdict.malformed)
    return notAccepted(answer, { ...refused, reason: 'malformed' }, intake)
  }
  if ('unavailable' in verdict) {
    const { unavailable: reason } = verdict
    const answer = postpone({ name, reason, requestId }, intake)
    return notAccepted(answer, { ...refused, reason }, intake)
  }
  const { reason, clockSkewSeconds } = verdict
  const answer = refuse({ name, reason, requestId }, intake)
  return notAccepted(answer, { ...refused, reason, clockSkewSeconds }, intake)
}

interface NotAccepted {
  readonly request: IncomingCall
  readonly found: RegisteredGateway | undefined
  readonly trace: CallbackTrace | undefined
  readonly reason: string
  readonly clockSkewSeconds?: number | undefined
}

/** Keeps what a few of them look like. */
function notAccepted(
  answer: Answer,
  { request, found, trace, ...why }: NotAccepted,
  { samples }: Intake,
): Answer {
  const gateway = found?.gateway.name
  samples?.add({ gateway: found?.gateway, name: request.gateway, ...why }, request)
  trace?.refused({ gateway, reason: why.reason, status: answer.status })
  return answer
}

interface Unverified {
  readonly name: string
  readonly reason: string
  readonly requestId: string | undefined
}

/** The sender learns nothing; the log says which check failed. */
function refuse({ name, reason, requestId }: Unverified, intake: Intake): Answer {
  intake.counts.refused(name, reason)
  intake.refusals.add(`${name}: ${reason}`, () =>
    intake.log.warn({ gateway: name, reason, requestId }, 'callback refused'),
  )
  return responses.forbidden
}

/** Nothing speaks against it: the gateway should send it again. */
function postpone({ name, reason, requestId }: Unverified, intake: Intake): Answer {
  intake.counts.refused(name, reason)
  intake.refusals.add(`${name}: ${reason}`, () =>
    intake.log.warn({ gateway: name, reason, requestId }, 'callback cannot be verified now'),
  )
  return responses.unavailable
}

/** The row of an accepted callback. */
export function newCall(
  request: IncomingCall,
  {
    payload,
    found,
    intake,
  }: { payload: Payload | UnparsedPayload; found: RegisteredGateway; intake: Intake },
): NewCall {
  const id = intake.newId()
  return {
    id,
    gateway: found.gateway.name,
    queue: intake.queue,
    url: redactUrl(urlOf(request.target, intake.origin)),
    headers: redactHeaders(request.headers, intake.gateways.credentialHeaders),
    ...storedContent({ callId: id, bytes: request.body, payload }, found.gateway, intake.cipher),
    size: request.body.byteLength,
    leaseToken: intake.atOnce?.leaseToken() ?? null,
  }
}

const foreignOrigin = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i

/** Whatever host the sender named, even in an absolute target, the URL is ours. */
function urlOf(target: string, origin: string): string {
  const path = target.replace(foreignOrigin, '')
  return path.startsWith('/') ? origin + path : `${origin}/${path}`
}

function acknowledged({ contentType, body }: Acknowledgment): Answer {
  return {
    status: 200,
    headers: { 'content-type': contentType, 'cache-control': 'no-store' },
    body,
  }
}
