import type { ListenedToByName, WithListeners } from '../billing/listeners-option.ts'
import type { BillingOptions } from '../billing/options.ts'
import { billingOf, type Billing } from '../create-billing.ts'
import { beginRehearsal, prepareRehearsal, type RehearsalPlay } from '../rehearsal/rehearsal.ts'
import { recordEvents, type EventRecorder } from './record-events.ts'

/** What an app gives to `createBilling`, and when the rehearsal begins. */
export interface RehearsalOptions extends Omit<
  BillingOptions,
  'database' | 'gateways' | 'extraGateways' | 'production'
> {
  /** 2027-01-01 if left out, so that a test plays the same every time. */
  readonly startsAt?: Date
}

/**
 * Subscriptions on a clock of their own: months in a second. Nothing runs by itself: time passes
 * by `advance`, and everything that falls due happens at its own time.
 */
export interface Rehearsal extends RehearsalPlay {
  /** The real one; its one gateway is `fake`. Register listeners before anything is played. */
  readonly billing: Billing
  /** Every event that was dispatched. */
  readonly events: EventRecorder
}

const usualStart = new Date('2027-01-01T00:00:00Z')

/**
 * Opens a rehearsal: a database in memory, the gateway `fake` with cards that end charges as a
 * test wants, and a clock that stands still. No provider and no other database is touched, whatever
 * the environment says. The first one of a process takes some seconds, the next ones less.
 */
export function rehearse<const On extends ListenedToByName>(
  options?: WithListeners<RehearsalOptions, On>,
): Promise<Rehearsal>
export async function rehearse({
  startsAt = usualStart,
  ...options
}: RehearsalOptions = {}): Promise<Rehearsal> {
  const prepared = prepareRehearsal(options, startsAt)
  const billing = billingOf(prepared.runtime)
  const { stop, ...events } = recordEvents(billing)
  try {
    const play = await beginRehearsal(prepared, billing)
    const close = async () => {
      stop('the rehearsal was closed')
      await play.close()
    }
    return { ...play, billing, events, close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await billing.close()
    throw error
  }
}
