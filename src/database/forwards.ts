import { sql, type Kysely } from 'kysely'
import { attemptFilters, forwardFilters } from '../events/endpoint.ts'
import type { Forward, ForwardAttempt, ForwardState } from '../events/endpoint.ts'
import type { Duration } from '../kernel/duration.ts'
import type { FilterValues } from '../kernel/noun.ts'
import { conditionsOf } from './conditions.ts'
import { givenRows } from './given-rows.ts'
import { newestOf, toPage, type Page, type PageQuery } from './page.ts'
import type { FeedRow } from './read-feed-rows.ts'
import type { Tables } from './tables.ts'

/** An event that is due to an endpoint once more. */
export interface DueForward extends FeedRow {
  /** Attempts that have failed. */
  readonly attempts: number
  /** When its row was written: another time is another wish to have it sent. */
  readonly asOf: Date
}

const eventColumns = sql`event.id, event.dedup_key, event.type, event.payment_id,
  event.payment_method_id, event.subscription_id, event.invoice_id, event.webhook_call_id, event.source,
  event.superseded, event.data, event.created_at, event.position`

/**
 * The events that are due to a leased endpoint, the longest waiting first. Undefined: the lease is
 * lost, or the endpoint is disabled or changed.
 */
export async function readDueForwards(
  db: Kysely<Tables>,
  {
    id,
    token,
    revision,
  }: { readonly id: string; readonly token: string; readonly revision: number },
  limit: number,
): Promise<readonly DueForward[] | undefined> {
  const { rows } = await sql<DueForward | { readonly id: null }>`
    select ${eventColumns}, event.attempts, event."asOf" from billing.endpoints as endpoint
    left join lateral (
      select ${eventColumns}, forward.attempts, forward.updated_at as "asOf",
        forward.next_attempt_at
      from billing.forwards as forward join billing.events as event on event.id = forward.event_id
      where forward.endpoint_id = endpoint.id and forward.state = 'pending'
        and forward.next_attempt_at <= statement_timestamp()
      order by forward.next_attempt_at, forward.position limit ${limit}
    ) as event on true
    where endpoint.id = ${id}::uuid and endpoint.lease_token = ${token}::uuid
      and endpoint.enabled and endpoint.revision = ${revision}
    order by event.next_attempt_at, event.position`.execute(db)
  return rows.length === 0 ? undefined : rows.filter((row) => row.id !== null)
}

/** The oldest that has not got there, due or not. */
export async function readOldestForward(
  db: Kysely<Tables>,
  endpointId: string,
): Promise<DueForward | undefined> {
  const { rows } = await sql<DueForward>`
    select ${eventColumns}, forward.attempts, forward.updated_at as "asOf" from billing.forwards as forward
    join billing.events as event on event.id = forward.event_id
    where forward.endpoint_id = ${endpointId}::uuid and forward.state = 'pending'
    order by forward.position limit 1`.execute(db)
  return rows[0]
}

/** How an event stands at an endpoint after an attempt. */
export interface ForwardOutcome {
  readonly eventId: string
  readonly position: bigint
  readonly state: ForwardState
  /** Attempts that have failed. */
  readonly attempts: number
  /** Of one that is pending: when it is due. */
  readonly after: Duration | undefined
  /** As its row was when it was sent because of it; undefined: it was not. */
  readonly asOf: Date | undefined
}

/**
 * Writes those that did not go at first; a row that exists follows, unless somebody has asked for the
 * event meanwhile: what failed was before that.
 */
export async function writeForwards(
  db: Kysely<Tables>,
  endpointId: string,
  outcomes: readonly ForwardOutcome[],
): Promise<void> {
  if (outcomes.length === 0) return
  const rows = outcomes.map(({ eventId, position, state, attempts, after, asOf }) => ({
    event_id: eventId,
    position: String(position),
    state,
    attempts,
    after: after === undefined ? null : after / 1000,
    as_of: asOf ?? null,
  }))
  const given = () => givenRows(outcomeTypes, rows)
  const nextAttemptAt = sql`statement_timestamp() + make_interval(secs => given.after)`
  await sql`
    with told as (
      update billing.forwards as forward
      set state = given.state, cause = 'retry', attempts = given.attempts,
        next_attempt_at = ${nextAttemptAt}, updated_at = statement_timestamp()
      from ${given()}
      where forward.endpoint_id = ${endpointId}::uuid and forward.event_id = given.event_id
        and (forward.state <> 'pending' or forward.cause = 'retry'
          or forward.updated_at = given.as_of))
    insert into billing.forwards
      (endpoint_id, event_id, position, state, cause, attempts, next_attempt_at)
    select ${endpointId}::uuid, event_id, position, state, 'retry', attempts, ${nextAttemptAt}
    from ${given()}
    on conflict do nothing`.execute(db)
}

const outcomeTypes = {
  event_id: 'uuid',
  position: 'bigint',
  state: 'text',
  attempts: 'integer',
  after: 'float8',
  as_of: 'timestamptz',
}

/** An event that has got there. */
export interface Delivered {
  readonly eventId: string
  /** As its row was when it was sent because of it; undefined: it was not. */
  readonly asOf: Date | undefined
}

/** What has got there is due no more, unless somebody has asked for it meanwhile. */
export async function endForwards(
  db: Kysely<Tables>,
  endpointId: string,
  delivered: readonly Delivered[],
): Promise<void> {
  if (delivered.length === 0) return
  await sql`update billing.forwards as forward
    set state = 'delivered', next_attempt_at = null, updated_at = statement_timestamp()
    from unnest(
      ${delivered.map(({ eventId }) => eventId)}::uuid[],
      ${delivered.map(({ asOf }) => asOf ?? null)}::timestamptz[]) as sent (event_id, as_of)
    where forward.endpoint_id = ${endpointId}::uuid and forward.event_id = sent.event_id
      and forward.state <> 'delivered'
      and (forward.cause = 'retry' or forward.updated_at = sent.as_of)`.execute(db)
}

/** The event is sent again, at once, whatever has become of it. */
export async function writeResend(
  db: Kysely<Tables>,
  endpointId: string,
  event: { readonly id: string; readonly position: bigint },
): Promise<void> {
  await sql`
    insert into billing.forwards
      (endpoint_id, event_id, position, state, cause, attempts, next_attempt_at)
    values (${endpointId}::uuid, ${event.id}::uuid, ${event.position}::bigint, 'pending', 'resend', 0,
      statement_timestamp())
    on conflict (endpoint_id, event_id) do update
    set state = 'pending', cause = 'resend', attempts = 0,
      next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at`.execute(db)
}

export interface NewAttempt extends Omit<ForwardAttempt, 'at'> {
  readonly endpointId: string
}

export async function insertAttempts(
  db: Kysely<Tables>,
  attempts: readonly NewAttempt[],
): Promise<void> {
  if (attempts.length === 0) return
  await sql`
    insert into billing.forward_attempts
      (id, endpoint_id, event_id, attempt, result, status, duration_ms, response)
    select * from unnest(
      ${attempts.map(({ id }) => id)}::uuid[],
      ${attempts.map(({ endpointId }) => endpointId)}::uuid[],
      ${attempts.map(({ eventId }) => eventId)}::uuid[],
      ${attempts.map(({ attempt }) => attempt)}::integer[],
      ${attempts.map(({ result }) => result)}::text[],
      ${attempts.map(({ status }) => status)}::integer[],
      ${attempts.map(({ durationMs }) => durationMs)}::integer[],
      ${attempts.map(({ response }) => response)}::text[])
    on conflict (id) do nothing`.execute(db)
}

/** Which requests to an endpoint to list; all of them if left out. */
export interface AttemptsQuery extends PageQuery, FilterValues<typeof attemptFilters> {}

/** Newest first. */
export async function listAttempts(
  db: Kysely<Tables>,
  endpointId: string,
  query: AttemptsQuery,
): Promise<Page<ForwardAttempt>> {
  const conditions = conditionsOf(attemptFilters, query)
  const rows = await db
    .selectFrom('billing.forward_attempts')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'id'))
    .execute()
  const attempts = rows.map((row) => ({
    id: row.id,
    eventId: row.event_id,
    attempt: row.attempt,
    at: row.at,
    result: row.result,
    status: row.status,
    durationMs: row.duration_ms,
    response: row.response,
  }))
  return toPage(attempts, query, ({ at, id }) => ({ at, id }))
}

/** Which of its events to list; all of them if left out. */
export interface ForwardsQuery extends PageQuery, FilterValues<typeof forwardFilters> {}

/** Those that did not go at first, or were sent again; newest events first. */
export async function listForwards(
  db: Kysely<Tables>,
  endpointId: string,
  query: ForwardsQuery,
): Promise<Page<Forward>> {
  const conditions = conditionsOf(forwardFilters, query)
  const rows = await db
    .selectFrom('billing.forwards')
    .selectAll()
    .where('endpoint_id', '=', endpointId)
    .where((is) => is.and([...conditions]))
    .$call(newestOf(query, 'event_id'))
    .execute()
  const forwards = rows.map((row) => ({
    createdAt: row.created_at,
    forward: {
      eventId: row.event_id,
      position: Number(row.position),
      state: row.state,
      cause: row.cause,
      attempts: row.attempts,
      nextAttemptAt: row.next_attempt_at,
    },
  }))
  const place = (one: (typeof forwards)[number]) => ({ at: one.createdAt, id: one.forward.eventId })
  const page = toPage(forwards, query, place)
  return { ...page, data: page.data.map(({ forward }) => forward) }
}

/** Deletes some attempts that are older than an id; how many. */
export async function deleteOldAttempts(
  db: Kysely<Tables>,
  before: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from billing.forward_attempts where id in (
      select id from billing.forward_attempts where id < ${before}::uuid order by id
      limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Deletes some of an endpoint that is gone; how many. */
export async function deleteOrphanForwards(db: Kysely<Tables>, limit: number): Promise<number> {
  // From one endpoint to the next by the primary key: there may be millions of rows, of few endpoints.
  const { numAffectedRows } = await sql`
    with recursive known (id) as (
      (select endpoint_id from billing.forwards order by endpoint_id limit 1)
      union all
      select (select endpoint_id from billing.forwards where endpoint_id > known.id
        order by endpoint_id limit 1) from known where known.id is not null),
    gone as (select id from known where id is not null
      and not exists (select from billing.endpoints where endpoints.id = known.id) limit 1)
    delete from billing.forwards where (endpoint_id, event_id) in (
      select endpoint_id, event_id from billing.forwards
      where endpoint_id = (select id from gone) limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}

/** Deletes some of what has got there, long ago; how many. What has not is kept: it can be resent. */
export async function deleteOldForwards(
  db: Kysely<Tables>,
  { keepDays, limit }: { readonly keepDays: number; readonly limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from billing.forwards where (endpoint_id, event_id) in (
      select endpoint_id, event_id from billing.forwards
      where state = 'delivered'
        and updated_at < statement_timestamp() - make_interval(days => ${keepDays}::integer)
      limit ${limit}) and state = 'delivered'`.execute(db)
  return Number(numAffectedRows ?? 0)
}
