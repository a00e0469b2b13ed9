import type { z } from 'zod'
import { fieldError, QuittanceError, type ErrorCode } from './errors.ts'
import { hasFields } from './has-fields.ts'

/** What is wrong with a field of an input, or, without a field, with the whole input. */
export interface InputFault {
  readonly field: string | undefined
  readonly fault: string
}

/** The input as the rules parse it. Error: this code, for the first thing that is wrong. */
export function readInput<T>(schema: z.ZodType<T>, input: unknown, code: ErrorCode): T {
  if (!hasFields(input)) throw new QuittanceError(code, 'the input must be an object with fields')
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const { field, fault } = faultOf(result.error)
  throw field === undefined ? new QuittanceError(code, fault) : fieldError(code, field, fault)
}

/** The first thing that is wrong. */
export function faultOf({ issues: [issue] }: z.ZodError): InputFault {
  const place = issue?.path.map(String) ?? []
  if (issue?.code === 'unrecognized_keys') {
    const name = [...place, ...issue.keys.slice(0, 1)].join('.')
    return { field: undefined, fault: unknownField(name) }
  }
  const field = place.length === 0 ? undefined : place.join('.')
  return { field, fault: issue?.message ?? 'the input is not allowed' }
}

export function unknownField(name: string): string {
  return `unknown field ${JSON.stringify(name.slice(0, 80))}`
}
