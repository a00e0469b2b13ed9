import { table, type Reason } from './reason-table.ts'

/** One of `reviewReasons`. */
export type ReviewReason = keyof typeof table

type With<Field extends string> = {
  [R in ReviewReason]: (typeof table)[R] extends Readonly<Record<Field, unknown>> ? R : never
}[ReviewReason]

/** One of `ignoredReasons`. */
export type IgnoredReason = With<'callback'>
/** A reason that a gateway decides, by the callback alone. */
export type GatewayReason = With<'byGateway'>

export const reasons: Readonly<Record<ReviewReason, Reason>> = table

export const reviewReasons = Object.keys(table) as readonly ReviewReason[]

/** Why a callback changes nothing. The log, the call and the docs use the same words. */
export const ignoredReasons: readonly IgnoredReason[] = reviewReasons.filter(
  (reason): reason is IgnoredReason => reasons[reason].callback !== undefined,
)

/** Reasons about a fact that is recorded. A retry of the call does not change the fact. */
export const recordedReasons = reviewReasons.filter((reason) => reasons[reason].isRecorded)

export function isReviewReason(text: unknown): text is ReviewReason {
  return typeof text === 'string' && Object.hasOwn(table, text)
}

/** Undefined for a reason that a later version has written. */
export function reasonFor(name: string): Reason | undefined {
  return isReviewReason(name) ? reasons[name] : undefined
}

/** What a person does about a review. */
export function stepFor(reason: string): string {
  return (
    reasonFor(reason)?.step ??
    'This version does not know the reason. Look at the payment and the callback.'
  )
}

/** Where the docs say more about a reason. */
export function docsFor(reason: string): string {
  return `docs/${reasonFor(reason)?.docs ?? '5-operations.md#calls-that-need-a-person'}`
}
