import type { Kysely } from 'kysely'
import { z } from 'zod'
import { insertAction, writeOutcome } from '../database/operator-actions.ts'
import type { Tables } from '../database/tables.ts'
import { jsonObject, oneOf, orNull, text, uuid } from '../kernel/input-rules.ts'
import { readInput } from '../kernel/read-input.ts'
import { actionVias, type ActionVia } from '../wire/operator.ts'

/** What an operator is about to do. */
export interface RecordActionInput {
  /** A UUID of the caller's: the same id again is the same action. */
  readonly id: string
  /** Who acts. */
  readonly operator: string
  readonly via: ActionVia
  /** What is done: a verb, and what of, such as `refundPayment`. */
  readonly action: string
  /** What it is done to, such as the id of a payment. */
  readonly subject?: string | null | undefined
  /** More about it; never a secret. */
  readonly detail?: Readonly<Record<string, unknown>> | null | undefined
}

/** `known`: an action of this id was recorded before, by a double press or another process. */
export type RecordedAction = 'recorded' | 'known'

const schema = z.strictObject({
  id: uuid,
  operator: text(200),
  via: oneOf(actionVias),
  action: text(200),
  subject: orNull(text(500)),
  detail: orNull(jsonObject),
} satisfies Record<keyof RecordActionInput, z.ZodType>)

const ending = z.strictObject({ id: uuid, outcome: text(500) })

/** Written before it is done: what is not recorded is not done. Error: `operator_invalid`. */
export async function recordAction(
  db: Kysely<Tables>,
  input: RecordActionInput,
): Promise<RecordedAction> {
  const { subject = null, detail = {}, ...action } = readInput(schema, input, 'operator_invalid')
  const row = { ...action, subject, detail: JSON.stringify(detail) }
  return (await insertAction(db, row)) ? 'recorded' : 'known'
}

/** What came of it. The first outcome stays: a repetition changes nothing. */
export async function endAction(db: Kysely<Tables>, id: string, outcome: string): Promise<void> {
  const read = readInput(ending, { id, outcome }, 'operator_invalid')
  await writeOutcome(db, read.id, read.outcome)
}
