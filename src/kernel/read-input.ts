import { z } from 'zod'
import { QuittanceError, type ErrorCode } from './errors.ts'
import { hasFields } from './has-fields.ts'
import { choiceAmong } from './similar-name.ts'

/** What is wrong with a field of an input, or, without a field, with the whole input. */
export interface InputFault {
  readonly field: string | undefined
  /** Begins with the field, or names it where there is no such field. */
  readonly message: string
}

/** The input as the rules parse it. Error: this code, for the first thing that is wrong. */
export function readInput<T>(schema: z.ZodType<T>, input: unknown, code: ErrorCode): T {
  if (!hasFields(input)) throw new QuittanceError(code, 'the input must be an object with fields')
  const lost = Object.entries({ '': input, ...input }).find(([, value]) => losesField(value))
  if (lost !== undefined) {
    const [place] = lost
    throw inputError(code, unknownField('__proto__', [], place === '' ? [] : [place]))
  }
  const result = schema.safeParse(input)
  if (result.success) return result.data
  throw inputError(code, faultOf(result.error, schema))
}

export function inputError(code: ErrorCode, { field, message }: InputFault): QuittanceError {
  return new QuittanceError(code, message, { field })
}

/** Zod leaves such a field out without a word. */
function losesField(value: unknown): boolean {
  return hasFields(value) && Object.hasOwn(value, '__proto__')
}

/** The first thing that is wrong; `schema`: whose, to name the fields that there are. */
export function faultOf({ issues: [first] }: z.ZodError, schema?: z.ZodType): InputFault {
  const issue = ofLastChoice(first)
  const place = issue?.path.map(String) ?? []
  if (issue?.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    return unknownField(key, fieldsAt(schema, place), place)
  }
  const fault = issue?.message ?? 'the input is not allowed'
  if (place.length === 0) return { field: undefined, message: fault }
  const field = place.join('.')
  return { field, message: `${field} ${fault}` }
}

/** Of several forms without a message of their own, the last is the one that has fields. */
function ofLastChoice(issue: z.core.$ZodIssue | undefined): z.core.$ZodIssue | undefined {
  if (issue?.code !== 'invalid_union' || issue.message !== 'Invalid input') return issue
  const inner = issue.errors.at(-1)?.[0]
  return inner && { ...inner, path: [...issue.path, ...inner.path] }
}

/** The fields that an object of the schema has at this place; none where they are not known. */
function fieldsAt(schema: unknown, place: readonly string[]): readonly string[] {
  if (schema instanceof z.ZodOptional) return fieldsAt(schema.unwrap(), place)
  const shape: Readonly<Record<string, unknown>> = schema instanceof z.ZodObject ? schema.shape : {}
  const [first, ...rest] = place
  return first === undefined ? Object.keys(shape) : fieldsAt(shape[first], rest)
}

/** `known`: the fields that there are beside it; `place`: of what it would be a field. */
export function unknownField(
  name: string,
  known: readonly string[] = [],
  place: readonly string[] = [],
): InputFault {
  const field = [...place, name].join('.').slice(0, 80)
  const choice = known.length === 0 ? '' : choiceAmong(name, known)
  return { field, message: `unknown field ${JSON.stringify(field)}${choice}` }
}
