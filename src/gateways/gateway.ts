import type { Duration } from '../kernel/duration.ts'
import type { Outcome } from '../payments/outcome.ts'
import type { Payment } from '../payments/payment.ts'
import type { Payload } from './body/payload.ts'
import type { CredentialFields, Credentials } from './credential-fields.ts'
import type { InterpretContext } from './interpret-context.ts'
import type { Operations } from './operations.ts'
import type { Scenario } from './scenario.ts'

/** A callback as it came in: exact bytes, header names in lower case. */
export interface RawRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * - `valid: true`: accepted. `signedBody`, if the signature does not cover the whole body: a body
 *   that holds what it covers and, bounded, what the provider documents beside that; it verifies and
 *   reads the same. It replaces the body that
 *   came: nothing else is acknowledged, stored or interpreted. `secret`: which of several configured
 *   secrets verified it, from 1; the first if left out.
 * - `valid: false`: answered 403; the reason goes to the log, never to the sender.
 *   `clockSkewSeconds`: how far the time that it states lies ahead of ours, if it states one.
 * - `unavailable`: something that the check needs is out of reach; answered 503, so that the
 *   callback comes again.
 * - `malformed`: answered 422 naming the field; only if `verification` is `none`.
 *
 * `Reason`: those that there are, so that the compiler refuses any other.
 */
export type Verdict<Reason extends string = string> =
  | Accepted
  | Refused<Reason>
  | { readonly unavailable: Reason }
  | { readonly malformed: string }

interface Refused<Reason extends string> {
  readonly valid: false
  readonly reason: Reason
  readonly clockSkewSeconds?: number
}

interface Accepted {
  readonly valid: true
  readonly signedBody?: Uint8Array
  readonly secret?: number
}

/** The body of the 200 answer. */
export interface Acknowledgment {
  readonly contentType: string
  readonly body: string
}

/** The account behind the credentials, if they reveal it: payments are bound to it. */
export interface AccountBinding {
  readonly merchantAccount: string | null
  readonly live: boolean | null
}

/** A test callback: as the provider would word and sign it. */
export interface SignedCallback {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a test callback is about, and what it is made with. */
export interface SignInput {
  /** One of the gateway's `scenarios`. */
  readonly scenario: string
  readonly payment: {
    readonly id: string
    readonly amount: bigint
    readonly currency: string
    readonly checkoutReference: string | null
    readonly providerReference: string | null
    readonly merchantAccount: string | null
    readonly live: boolean | null
  }
  readonly credentials: Credentials
  readonly now: Date
  readonly newId: () => string
}

/** Makes realistic signed callbacks: for `quittance send` and for tests. */
export interface Signer {
  /** By name, e.g. `paid`, `declined`, `expired`; the first is the usual one. */
  readonly scenarios: Readonly<Record<string, Scenario>>
  /**
   * The checkout that its callbacks name for a payment without one. Present if a payment must be
   * created with it: otherwise not every callback settles the payment.
   */
  readonly checkoutReferenceOf?: (paymentId: string) => string
  /** False if its callbacks carry neither amount nor currency. Default true. */
  readonly statesMoney?: boolean
  sign(input: SignInput): SignedCallback
}

/**
 * A payment gateway: it interprets what the provider says and never touches the database. To add
 * one, add a folder beside this file and a line in builtin.ts.
 */
export interface Gateway extends Operations {
  readonly name: string
  /** Of an account: the name of the gateway that it is one of. Quittance sets it. */
  readonly driver?: string
  readonly title: string
  readonly aliases: readonly string[]
  /** How its callbacks are signed, in words. */
  readonly scheme: string
  /** Whether the callback URL must be registered at the provider beforehand. */
  readonly webhook_requires_dashboard_setup: boolean
  /** If it need not be: the field of a payment request that carries the callback URL. */
  readonly callbackUrlField?: string
  readonly credentials: CredentialFields
  readonly verification: 'signature' | 'none'
  /**
   * The size of its largest callback in bytes, if less than `webhook.max_body_bytes`. A larger body
   * is answered 413 before anything of it is checked.
   */
  readonly maxBodyBytes?: number
  /** Names of headers, in lower case, whose values are redacted in stored calls. */
  readonly credentialHeaders: readonly string[]
  /**
   * Field names, at any depth, whose values are masked in stored payloads (card tokens and the
   * like). With an encryption key the exact bytes are stored beside the payload, encrypted, and
   * `interpret` gets the payload as it came; without one it gets masked values.
   */
  readonly secretFields: readonly string[]
  /**
   * Names of the fields, at any depth, whose values `parse` returns and `interpret` reads. In all
   * other fields of stored payloads card numbers are masked. Without the list they are masked only
   * in fields with the name of one; security codes and client secrets are always masked, except in
   * the listed fields.
   */
  readonly readFields?: readonly string[]
  /** How long the provider keeps redelivering a callback. */
  readonly retryWindow: Duration
  account(credentials: Credentials): AccountBinding
  /** Never throws: every input leads to a verdict. */
  verify(request: RawRequest, credentials: Credentials, now: Date): Verdict | Promise<Verdict>
  /**
   * Every reason with which `verify` refuses or is unavailable. Without the list, any may come.
   */
  readonly refusalReasons?: readonly string[]
  /**
   * For a gateway whose bodies are JSON and whose answer is always the same: its callbacks are
   * answered with this and stored as they came, and read once they are processed. `parse` must then
   * be `parseJsonBody`, and there can be no `secretFields`.
   */
  readonly answersUnread?: Acknowledgment
  /** Never throws. Pure, so that a stored call reads the same as the request did. */
  parse(request: RawRequest): Payload
  acknowledge(payload: Payload, credentials: Credentials, now: Date): Acknowledgment
  interpret(payload: Payload, context: InterpretContext): Promise<readonly Outcome[]>
  readonly signer?: Signer
  /**
   * Where a person sees the payment in the provider's dashboard: an https address. Undefined if what
   * is known of it leads nowhere for sure. Its references are texts of the provider's: check their
   * form. Never throws.
   */
  dashboardUrl?(payment: Payment): string | undefined
}

/** The answer of a gateway that needs no other: `{"message":"ok"}`. */
export const plainAcknowledgment: Acknowledgment = {
  contentType: 'application/json',
  body: '{"message":"ok"}',
}

/** The verdict while something that the check needs is out of reach. The reason is for the log. */
export function unavailable<const Reason extends string>(reason: Reason): Verdict<Reason> {
  return { unavailable: reason }
}

/** The verdict on a callback that is refused. The reason is for the log, never for the sender. */
export function invalid<const Reason extends string>(
  reason: Reason,
  clockSkewSeconds?: number,
): Verdict<Reason> {
  if (clockSkewSeconds === undefined) return { valid: false, reason }
  return { valid: false, reason, clockSkewSeconds }
}

/** The verdict on a callback that is accepted, if the signature covers its whole body. */
export const valid: Accepted = { valid: true }

/** The same, verified by the secret at this index of those that are configured. */
export function validBy(index: number): Accepted {
  return index === 0 ? valid : { valid: true, secret: index + 1 }
}

/**
 * The verdict on a callback that is accepted with this body alone: the rest of it is not signed.
 * `index`: of the secret that verified it.
 */
export function validIn(signedBody: string, index = 0): Accepted {
  return { ...validBy(index), signedBody: Buffer.from(signedBody) }
}

/** 256 KiB: many times what a provider sends that describes an order by its own fields alone. */
export const smallBody = 256 * 1024
