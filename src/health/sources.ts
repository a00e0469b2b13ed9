import { sql, type Kysely } from 'kysely'
import { listHeldCharges } from '../database/charge-holds.ts'
import { countUpTo, mostCounted } from '../database/count-up-to.ts'
import {
  countFailedCalls,
  countFailedForwards,
  countFailedQueued,
} from '../database/failed-rows.ts'
import { interval } from '../database/interval.ts'
import { readAnsweredMinutes, readGatewayCounts } from '../database/read-counts.ts'
import type { Tables } from '../database/tables.ts'
import { countWorkers } from '../database/workers.ts'
import type { DisabledReason } from '../events/endpoint.ts'
import { readFailedGroups } from '../inspect/failed.ts'
import { days, hours, minutes, seconds, type Duration } from '../kernel/duration.ts'

// What facts are read from: each is counted by one statement, wherever it is shown. All of them are
// for `readInOrder`.

type Db = Kysely<Tables>

/** Calls of one gateway that wait. */
export interface WaitingCalls {
  readonly gateway: string
  readonly count: number
  /** How long the oldest of them that is due has been waiting. */
  readonly oldestSeconds: number
  /** Failed before, or waiting for a provider, and due at another time. */
  readonly retried: number
}

/** Of the 10,001 that have been due for longest: with more, a gateway may be missing. */
export async function waitingCalls(db: Db): Promise<readonly WaitingCalls[]> {
  const query = sql<WaitingCalls>`
    select gateway, count(*)::int as count,
      greatest(0, extract(epoch from statement_timestamp() - min(next_attempt_at)))::float8
        as "oldestSeconds",
      count(*) filter (where attempts > 0 or exception is not null)::int as retried
    from (
      select gateway, next_attempt_at, attempts, exception
      from billing.webhook_calls where state = 'pending'
      order by next_attempt_at limit ${mostCounted}
    ) as waiting
    group by gateway`
  const { rows } = await query.execute(db)
  return rows
}

/** A sum over gateways, and how long the oldest has been waiting. */
export function sumOfWaiting(waiting: readonly WaitingCalls[]) {
  return {
    pending: waiting.reduce((sum, { count }) => sum + count, 0),
    oldestSeconds: Math.max(0, ...waiting.map(({ oldestSeconds }) => oldestSeconds)),
  }
}

export async function callsInWork(db: Db): Promise<number> {
  const query = sql<{ count: number }>`select ${countUpTo(sql`from billing.webhook_calls
    where state = 'processing' order by lease_until`)} as count`
  const { rows } = await query.execute(db)
  return rows[0]?.count ?? 0
}

/** With a worker, nothing that is due waits for so long. */
export const takenWithin: Duration = seconds(15)

interface QueuedWork {
  readonly pending: number
  readonly processing: number
  /** One is due for longer than a worker lets it wait. */
  readonly isLate: boolean
}

/** Deliveries to queued listeners, and deferred events, whose index begins with `outbox`. */
export async function queuedWork(db: Db): Promise<QueuedWork> {
  const isLate = sql`next_attempt_at < statement_timestamp() - ${interval(takenWithin)}`
  const query = sql<QueuedWork>`
    select least(${mostCounted}, ${countUpTo(sql`from billing.deliveries
          where state = 'pending' order by next_attempt_at, id`)}
        + ${countUpTo(sql`from billing.deferred_events
          where state = 'pending' order by outbox, next_attempt_at, id`)}) as pending,
      least(${mostCounted}, ${countUpTo(sql`from billing.deliveries
          where state = 'processing' order by lease_until`)}
        + ${countUpTo(sql`from billing.deferred_events
          where state = 'processing' order by lease_until`)}) as processing,
      exists (select from billing.deliveries where state = 'pending' and ${isLate})
        or exists (select from billing.deferred_events
          where state = 'pending' and outbox in (false, true) and ${isLate}) as "isLate"`
  const { rows } = await query.execute(db)
  return rows[0] ?? { pending: 0, processing: 0, isLate: false }
}

export const workers = countWorkers

export const failedCalls = countFailedCalls
export const failedQueued = countFailedQueued
export const failedForwards = countFailedForwards

/** Of some of the newest that failed. */
export const newestFailed = (db: Db) => readFailedGroups(db, { rows: 100, groups: 100, ids: 1 })

export interface ScheduleState {
  readonly schedule: string
  /** How long it has been due without running. */
  readonly overdueSeconds: number
  readonly error: string | null
}

/** What is held waits for somebody, or for a time. */
export async function schedules(db: Db): Promise<readonly ScheduleState[]> {
  const { rows } = await sql<ScheduleState>`
    select name as schedule, last_error as error,
      greatest(0, extract(epoch from statement_timestamp() - next_run_at))::float8
        as "overdueSeconds"
    from billing.schedules where held_reason is null order by name`.execute(db)
  return rows
}

const numberedWithin: Duration = minutes(1)

/** Events that should have had their place in the feed by now. */
export async function unnumberedEvents(db: Db) {
  const query = sql<{ count: number }>`select ${countUpTo(sql`from billing.events
    where position is null and created_at < statement_timestamp() - ${interval(numberedWithin)}
    order by created_at, id`)} as count`
  return (await query.execute(db)).rows
}

export interface EndpointState {
  readonly endpointId: string
  readonly endpoint: string
  /** Null: it is sent to, or an operator has disabled it. */
  readonly reason: Exclude<DisabledReason, 'operator'> | null
  readonly since: Date | null
  readonly isEnabled: boolean
  /** In a row. */
  readonly failures: number
  /** Events that it has not been sent yet. */
  readonly behind: number
  /** Events that should have been tried again by now. */
  readonly late: number
}

const triedAgainWithin: Duration = minutes(10)

/** While an endpoint fails or is disabled, all its events wait: none is late. */
export async function endpoints(db: Db): Promise<readonly EndpointState[]> {
  const late = countUpTo(sql`from billing.forwards
    where endpoint.enabled and endpoint.failures = 0
      and endpoint_id = endpoint.id and state = 'pending'
      and next_attempt_at < statement_timestamp() - ${interval(triedAgainWithin)}
    order by next_attempt_at`)
  const query = sql<EndpointState>`
    select id as "endpointId", endpoint.name as endpoint, enabled as "isEnabled", failures,
      nullif(disabled_reason, 'operator') as reason, disabled_at as since,
      greatest(0, feed.last_position - position)::float8 as behind,
      ${late} as late
    from billing.endpoints as endpoint, billing.feeds as feed
    where feed.name = 'events' order by endpoint.name`
  const { rows } = await query.execute(db)
  return rows
}

/** How long the subscription has waited that has been due for longest: two looks into an index. */
export async function subscriptionsDue(db: Db) {
  const dueFirst = (managedBy: string) => sql`(select min(next_action_at)
    from billing.subscriptions where managed_by = ${managedBy} and next_action_at is not null)`
  const query = sql<{ dueSeconds: number }>`
    select greatest(0, coalesce(extract(epoch from statement_timestamp() - least(
      ${dueFirst('local')}, ${dueFirst('provider')})), 0))::float8 as "dueSeconds"`
  return (await query.execute(db)).rows
}

export const heldCharges = listHeldCharges

export async function openReviews(db: Db) {
  const open = sql`from billing.reviews where state = 'open' order by id`
  const query = sql<{ count: number; oldest: Date | null }>`
    select ${countUpTo(open)} as count, (select created_at ${open} limit 1) as oldest`
  return (await query.execute(db)).rows
}

/** When a gateway last accepted a callback, to the minute. */
export interface LastAccepted {
  readonly gateway: string
  readonly seconds: number
}

const acceptedWithin: Duration = days(8)
/** A count of a minute says no more than that it was within it. */
const exactness: Duration = seconds(60)

/** By what was counted: the calls themselves have no index for it. */
export async function lastAccepted(db: Db): Promise<readonly LastAccepted[]> {
  const { rows } = await sql<LastAccepted>`
    select gateway, greatest(0, extract(epoch from statement_timestamp() - max(at)
      - ${interval(exactness)}))::float8 as seconds
    from billing.counts
    where span in ('minute', 'quarter') and metric = 'callbacks_total' and label = 'accepted'
      and at > statement_timestamp() - ${interval(acceptedWithin)} and gateway <> ''
    group by gateway`.execute(db)
  return rows
}

const callbacks = ['callbacks_total', 'callbacks_refused_total']

/** It is looked back so far for the minute since when a gateway refuses. */
export const answeredMinutes = (db: Db) => readAnsweredMinutes(db, hours(3))
export const recentCallbacks = (db: Db) =>
  readGatewayCounts(db, callbacks, { span: 'minute', within: minutes(15) })
export const callbacksOfDay = (db: Db) =>
  readGatewayCounts(db, callbacks, { span: 'quarter', within: hours(24) })
export const recentDecisions = (db: Db) =>
  readGatewayCounts(db, ['payments_decided_total'], { span: 'minute', within: hours(1) })
