import { z } from 'zod'
import { eventTypes, type EventType } from '../events/catalogue.ts'
import { endpointPayloads, type EndpointPayload } from '../events/endpoint.ts'
import { must, oneOf, text, webUrl } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'

/** What a caller gives to make an endpoint. */
export interface CreateEndpointInput {
  /** What it is called: small letters, digits, `.`, `_` and `-`. */
  readonly name: string
  /** Where its requests go: https, and public, unless `forward.allow` says otherwise. */
  readonly url: string
  readonly description?: string | null | undefined
  /** All types but those that anybody with a link can cause, if left out. */
  readonly eventTypes?: readonly EventType[] | null | undefined
  /** Events about these gateways; all if left out. */
  readonly gateways?: readonly string[] | null | undefined
  /** `full` (if left out): the whole event; `thin`: which one it is. */
  readonly payload?: EndpointPayload | undefined
  /** Requests under way at the same time, at most; 4 if left out. */
  readonly maxConcurrency?: number | undefined
  /** Requests in a second, at most; no limit if left out. */
  readonly ratePerSecond?: number | null | undefined
  /** How long one request may take; 15 if left out. */
  readonly timeoutSeconds?: number | undefined
}

/** What of an endpoint may be changed: what is left out stays. */
export type ChangeEndpointInput = Partial<CreateEndpointInput>

const nameRule = must(
  'must be 1 to 64 small letters, digits, ".", "_" or "-", the first a letter or a digit',
)
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/
const name = z.string(nameRule).regex(namePattern, nameRule)
const typesRule = must('must be a list of names of events')
const gatewaysRule = must('must be a list of names of gateways')

function wholeFrom1To(most: number) {
  const rule = must(`must be a whole number from 1 to ${most}`)
  return z.int(rule).min(1, rule).max(most, rule)
}

/** What each field may be, by its name in the library. */
export const endpointRules = {
  name,
  url: webUrl(2000),
  description: text(500).nullish(),
  eventTypes: z.array(z.enum(eventTypes, typesRule), typesRule).min(1, typesRule).nullish(),
  gateways: z.array(text(64), gatewaysRule).min(1, gatewaysRule).nullish(),
  payload: oneOf(endpointPayloads).optional(),
  maxConcurrency: wholeFrom1To(64).optional(),
  ratePerSecond: wholeFrom1To(1000).nullish(),
  timeoutSeconds: wholeFrom1To(60).optional(),
} satisfies Record<keyof CreateEndpointInput, z.ZodType>

export const endpointChangeRules = {
  ...endpointRules,
  name: name.optional(),
  url: endpointRules.url.optional(),
}

const created = z.strictObject(endpointRules)
const changed = z.strictObject(endpointChangeRules)

/** Nothing else is called so. */
export function isEndpointName(text: string): boolean {
  return namePattern.test(text)
}

/** With its defaults. Error: `endpoint_invalid`, naming the field. */
export function readEndpoint(input: unknown) {
  return withDefaults(readInput(created, input, 'endpoint_invalid'))
}

export function withDefaults(given: z.output<typeof created>) {
  return {
    name: given.name,
    url: given.url,
    description: given.description ?? null,
    eventTypes: given.eventTypes ?? null,
    gateways: given.gateways ?? null,
    payload: given.payload ?? ('full' as const),
    maxConcurrency: given.maxConcurrency ?? 4,
    ratePerSecond: given.ratePerSecond ?? null,
    timeoutSeconds: given.timeoutSeconds ?? 15,
  }
}

/** Error: `endpoint_invalid`, naming the field. */
export function readEndpointChanges(input: unknown): z.output<typeof changed> {
  return readInput(changed, input, 'endpoint_invalid')
}
