import type { Addresses } from '../checkout/checkout-request.ts'
import type { Duration } from '../kernel/duration.ts'
import type { ProcessingContext } from '../processing/context.ts'
import type { QueueConnection } from '../queue/queue.ts'
import type { Plans } from './resolve-plan.ts'

/** What every request to a provider needs. */
export interface ProviderContext {
  readonly processing: Pick<ProcessingContext, 'gateways' | 'log' | 'numbers' | 'scrub' | 'spans'>
  /** How long a provider may take to answer. */
  readonly answerWithin: Duration
  now(): Date
}

/** What operations on payments need. */
export interface MoneyContext extends ProviderContext {
  readonly processing: ProcessingContext
  readonly addresses: Addresses
  /** Whether a payer may be sent on to this URL. */
  isAllowedReturn(url: string): boolean
  /** The names of metadata that payments are found by. */
  readonly searchedMetadata: readonly string[]
  /** The queue whose workers run the queued listeners of what is applied. */
  readonly queue: string
  /** Where calls are announced that must be processed again. */
  readonly connection: Pick<QueueConnection, 'announce'>
}

/** What operations on subscriptions need. */
export interface SubscriptionContext extends MoneyContext {
  /** What a new one has that does not say otherwise. */
  readonly subscriptions: {
    readonly plans: Plans
    readonly graceAccess: boolean
    readonly timeZone: string
  }
}
