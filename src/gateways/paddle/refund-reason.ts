import { readUuid } from '../../kernel/uuid.ts'
import { textOf, type JsonObject } from '../body/json.ts'

const longestReason = 200
const marked = /\(refund ([0-9a-fA-F-]{36})\)$/

/**
 * The text that Paddle's staff reads. Adjustments have no custom data, but every report of one
 * carries its reason: our refund's id at its end identifies the refund.
 */
export function refundReason(reason: string | null, refundId: string): string {
  const text = (reason ?? '').trim().slice(0, longestReason).toWellFormed()
  return `${text === '' ? 'Requested by the merchant' : text} (refund ${refundId})`
}

/** The id of our refund; undefined if we did not make the adjustment. */
export function refundIdIn(adjustment: JsonObject): string | undefined {
  return readUuid(textOf(adjustment.get('reason'))?.match(marked)?.[1])
}
