import type { StandInReply } from '../../support/stand-in.ts'
import type { Asking } from '../provider-stand-in.ts'
import type { StripeRequest } from './request.ts'
import type { StripeState } from './state.ts'

/** What a request asks for, what is wrong with it, and what may come of it. */
export interface Route {
  readonly asking: Asking
  readonly faults: readonly string[]
  readonly refusal: StandInReply
  /** Replies of another payment can be told from those of this one. */
  readonly namesPayment: boolean
  perform(): StandInReply
}

export type Handler = (state: StripeState, request: StripeRequest, id: string) => Route
