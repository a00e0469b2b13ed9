import { z } from 'zod'
import { oneOf, text, time, uuid } from '../../kernel/input-rules.ts'
import type { ErrorCode } from '../../kernel/errors.ts'
import { readInput } from '../../kernel/read-input.ts'
import {
  endpointChangeRules,
  endpointRules,
  readEndpoint,
  readEndpointChanges,
} from '../../outbound/endpoint-input.ts'
import { inJson, inLibrary } from './bodies.ts'

/** An endpoint to make. Error: `endpoint_invalid`. */
export const endpointBody = {
  schema: inJson(endpointRules),
  read: (given: unknown) =>
    readEndpoint(inLibrary(given, endpointRules, { code: 'endpoint_invalid' })),
}

/** What of one is to be changed. Error: `endpoint_invalid`. */
export const endpointChangesBody = {
  schema: inJson(endpointChangeRules),
  read: (given: unknown) =>
    readEndpointChanges(inLibrary(given, endpointChangeRules, { code: 'endpoint_invalid' })),
}

/** Where it reads on. Error: `endpoint_invalid`. */
export const enableBody = {
  ...bodyOf({ from: oneOf(['end']).optional() }, 'endpoint_invalid'),
  mayBeEmpty: true,
}

/** From where events are sent again. Error: `query_invalid`. */
export const replayBody = bodyOf(
  { after: text(200).optional(), since: time.optional() },
  'query_invalid',
)

/** Which event is sent again. Error: `endpoint_invalid`. */
export const resendBody = bodyOf(
  { eventId: uuid.describe('The id of the event.') },
  'endpoint_invalid',
)

function bodyOf<Rules extends Readonly<Record<string, z.ZodType>>>(rules: Rules, code: ErrorCode) {
  const schema = z.strictObject(rules)
  return {
    schema: inJson(rules),
    read: (given: unknown) => readInput(schema, inLibrary(given, rules, { code }), code),
  }
}
