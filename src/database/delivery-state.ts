import { sql, type RawBuilder } from 'kysely'
import type { DeliveryState } from '../events/event-record.ts'

/** The state of a row of `deliveries` as it is shown: see `StoredDeliveryState`. */
export const shownState: RawBuilder<DeliveryState> = sql`
  case state when 'waiting' then 'pending' when 'held' then 'processing' when 'given_up' then 'failed'
    else state end`

/** Whether a row of `deliveries` has failed for good. */
export const hasFailed: RawBuilder<boolean> = sql`state in ('failed', 'given_up')`
