import { z } from 'zod'
import { fieldError } from '../kernel/errors.ts'
import { must, oneOf } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'
import { operatorRoles, type OperatorRole } from '../wire/operator.ts'

/** What a caller gives to add an operator. */
export interface AddOperatorInput {
  /** Small letters, digits, `.`, `_` and `-`; not `api`, `read`, `service` or `cli`. */
  readonly name: string
  /** A `viewer` reads, an `operator` also acts. */
  readonly role: OperatorRole
  /** When its token stops working; never if left out. */
  readonly expiresAt?: Date | null | undefined
}

/** Who acts without a token of the database: those of the settings, the service, a command. */
export const settingOperators: ReadonlySet<string> = new Set(['api', 'read'])
const reserved = new Set([...settingOperators, 'service', 'cli'])

const nameRule = must(
  'must be 1 to 64 small letters, digits, ".", "_" or "-", the first a letter or a digit',
)
const timeRule = must('must be a Date')

const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/

const schema = z.strictObject({
  name: z.string(nameRule).regex(namePattern, nameRule),
  role: oneOf(operatorRoles),
  expiresAt: z.date(timeRule).nullish(),
} satisfies Record<keyof AddOperatorInput, z.ZodType>)

/** Nothing else is called so. */
export function isOperatorName(text: string): boolean {
  return namePattern.test(text)
}

/** Error: `operator_invalid`, naming the field. */
export function readOperator(input: unknown, now: Date) {
  const { name, role, expiresAt = null } = readInput(schema, input, 'operator_invalid')
  if (reserved.has(name)) throw fieldError('operator_invalid', 'name', 'is reserved')
  if (expiresAt !== null && expiresAt <= now) {
    throw fieldError('operator_invalid', 'expiresAt', 'must be in the future')
  }
  return { name, role, expiresAt }
}
