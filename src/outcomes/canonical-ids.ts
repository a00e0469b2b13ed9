import { readUuid } from '../kernel/uuid.ts'
import type { Outcome, PaymentOutcome, SingleRefundOutcome } from '../payments/outcome.ts'

/** Where outcomes name something by our own id. */
type Naming = Partial<
  Pick<PaymentOutcome, 'payment' | 'claimed' | 'renews'> & Pick<SingleRefundOutcome, 'refundId'>
>

/** An outcome whose ids are spelled as ours are: a UUID is the same in capitals. */
export function withCanonicalIds<Stated extends Outcome>(outcome: Stated): Stated {
  const { payment, claimed, renews, refundId }: Naming = outcome
  return {
    ...outcome,
    ...(payment !== undefined && { payment: canonical(payment) }),
    ...(claimed !== undefined && { claimed: canonical(claimed) }),
    ...(renews !== undefined && { renews: renews === 'subscription' ? renews : canonical(renews) }),
    ...(refundId !== undefined && { refundId: readUuid(refundId) ?? refundId }),
  }
}

/** What is no UUID stays as it is: it is reported so. */
function canonical<Reference extends object>(reference: Reference): Reference {
  if (!('id' in reference)) return reference
  return { ...reference, id: readUuid(reference.id) ?? reference.id }
}
