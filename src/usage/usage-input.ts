import { z } from 'zod'
import { QuittanceError } from '../kernel/errors.ts'
import { flag, must, text, uuid, wholeNumber } from '../kernel/input-rules.ts'
import { inputError, readInput } from '../kernel/read-input.ts'
import { quotaName } from '../subscriptions/quota.ts'
import type { CounterKey } from '../database/usage-counters.ts'
import type { Usage } from '../subscriptions/judge-usage.ts'

/** Something that was used. */
export interface UsageInput<Quota extends string = string> {
  readonly subscriptionId: string
  /** The name of the quota. */
  readonly quota: Quota
  /** How much: a positive whole number; 1 if left out. */
  readonly units?: bigint | number | undefined
  /**
   * Names what was done, of 1 to 200 characters: the id of the request or of the job. What has the
   * same key counts once, for as long as keys are kept (`usage.keep_keys_days`).
   */
  readonly key: string
  /** Count it only if it fits into what is left. */
  readonly enforce?: boolean | undefined
}

/** The same, checked. */
export type UsageRecord = CounterKey & Usage

export const mostRecords = 1000
const mostUnits = BigInt(Number.MAX_SAFE_INTEGER)

const unitsRule = must(`must be a whole number from 1 to ${mostUnits}`)
const units = wholeNumber({ least: 1n, most: mostUnits }, unitsRule)

const quotaRule = must('must be a name of a-z, 0-9, "_", "." and "-", 64 characters at most')
export const quota = z.string(quotaRule).regex(quotaName, quotaRule)

/** What each field may be, by its name in the library. */
export const usageRules = {
  subscriptionId: uuid,
  quota,
  units: units.default(1n),
  key: text(200),
  enforce: flag.default(false),
} satisfies Record<keyof UsageInput, z.ZodType>
const schema = z.strictObject(usageRules) as z.ZodType as z.ZodType<UsageRecord>

/** Error: `usage_invalid`, naming the field, and of several the place in the list. */
export function readUsage(input: unknown): readonly UsageRecord[] {
  if (!Array.isArray(input)) return [readInput(schema, input, 'usage_invalid')]
  if (input.length > mostRecords) {
    const text = `at most ${mostRecords} records at a time, got ${input.length}`
    throw new QuittanceError('usage_invalid', text)
  }
  return input.map((one: unknown, place) => readOne(one, place))
}

function readOne(input: unknown, place: number): UsageRecord {
  try {
    return readInput(schema, input, 'usage_invalid')
  } catch (error) {
    if (!(error instanceof QuittanceError)) throw error
    const { field = '', message } = error
    const isNamed = field !== '' && message.startsWith(field)
    throw inputError('usage_invalid', {
      field: field === '' ? String(place) : `${place}.${field}`,
      message: `${place}${isNamed ? '.' : ' '}${message}`,
    })
  }
}
