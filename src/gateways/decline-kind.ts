import type { DeclineKind } from '../payments/decline.ts'
import type { Operations } from './operations.ts'

/**
 * What a decline with this code of the provider means. A code that the gateway does not list, or
 * none at all, is `soft`: the provider says only that the payment was declined.
 */
export function declineKindOf(
  { declines }: Pick<Operations, 'declines'>,
  code: string | null,
): DeclineKind {
  return (code === null ? undefined : declines?.get(code)) ?? 'soft'
}
