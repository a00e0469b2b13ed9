import { viewOf } from '../kernel/noun.ts'
import { disputeFields } from '../payments/dispute.ts'
import { schemaOf } from './noun.ts'

/** A dispute of a payment. */
export const disputeSchema = schemaOf(disputeFields)
export const disputeView = viewOf(disputeFields)
