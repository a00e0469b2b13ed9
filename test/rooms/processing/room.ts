import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import { after, before, beforeEach, type TestContext } from 'node:test'
import timers from 'node:timers/promises'
import { sql, type Insertable, type Kysely, type Selectable } from 'kysely'
import pg from 'pg'
import type { QueuedListener } from '../../../src/billing/types.ts'
import { connect, type Database } from '../../../src/database/connect.ts'
import { findPayment, toPayment } from '../../../src/database/payments.ts'
import type {
  DeferredEventsTable,
  DeliveriesTable,
  EventsTable,
  PaymentsTable,
  Tables,
  WebhookCallsTable,
} from '../../../src/database/tables.ts'
import type { EventType } from '../../../src/events/catalogue.ts'
import type { Gateway } from '../../../src/gateways/gateway.ts'
import { createRegistry } from '../../../src/gateways/registry.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { silentLog } from '../../../src/kernel/log.ts'
import type { Listener } from '../../../src/listeners/listener.ts'
import { createListenerRegistry, type ListenerRegistry } from '../../../src/listeners/listeners.ts'
import type { Payment } from '../../../src/payments/payment.ts'
import { webhookCalls, type LeasedCall } from '../../../src/queue/calls.ts'
import { deferredEvents, type LeasedEvent } from '../../../src/queue/deferred-events.ts'
import {
  deliveries as leasedDeliveries,
  type LeasedDelivery,
} from '../../../src/queue/deliveries.ts'
import type { QueueRow, QueueTable } from '../../../src/leases/leased-table.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { postgres } from '../../support/databases.ts'
import { muchPatience } from '../../support/patience.ts'
import { inTestSchema, testSchema } from '../../support/test-schema.ts'
import { paid } from '../../support/statements.ts'
import { statedCall, stating, type Statement } from '../../support/stating-gateway.ts'
import { entrancesOf, type Entrances, type Given } from './process.ts'

interface Known {
  readonly id: string
}

type CallRow = Selectable<WebhookCallsTable>
type DeliveryRow = Selectable<DeliveriesTable>
type DeferredRow = Selectable<DeferredEventsTable>
type EventRow = Selectable<EventsTable>

/** A failure that the server itself reports when a row is written. */
interface Fault {
  readonly table: 'payments' | 'webhook_calls' | 'events' | 'deliveries' | 'deferred_events'
  readonly on: 'insert' | 'update'
  /** Only where the row gets this state. */
  readonly state?: string
  readonly sqlState: string
  /** How often it strikes; always by default. */
  readonly times?: number
}

interface Naming {
  readonly name?: string
  readonly superseded?: boolean
}

/** Processing and what is around it: anew for each test, on one database a file. */
export interface Room extends Entrances {
  readonly database: Database
  readonly db: Kysely<Tables>
  readonly listeners: ListenerRegistry
  /** What was logged, with all fields. */
  readonly lines: readonly Record<string, unknown>[]
  /** When the test began, by the clock of this machine, which is the server's. */
  readonly begunAt: number
  /** What was called, in order: `workers`, and `created` after the commit. */
  readonly woken: readonly string[]
  /** What the gateway `asking` makes of any callback. */
  interpret: Gateway['interpret']
  /** Changes what processing is given. */
  give(given: Partial<Given>): void
  /** Registers a listener in the transaction. */
  on<const T extends EventType>(
    types: T | readonly T[],
    run: NoInfer<Listener<T>>,
    naming?: Naming,
  ): void
  /** Registers a queued one. */
  onQueued<T extends EventType>(type: T, run?: QueuedListener<T>, naming?: Naming): void
}

/** Makes the server report failures, and gives listeners a table to write into. */
const scenery = `
  create table if not exists notes
    (place bigint generated always as identity, author text, about text);
  create table if not exists faults
    (on_table text, operation text, state text, sql_state text, times bigint);
  create sequence if not exists strikes;
  create or replace function strike() returns trigger language plpgsql as $$
  declare fault public.faults;
  begin
    select * into fault from public.faults where on_table = tg_table_name
      and operation = lower(tg_op)
      and (faults.state is null or to_jsonb(new)->>'state' = faults.state);
    if found and nextval('public.strikes') <= fault.times then
      raise exception 'struck' using errcode = fault.sql_state;
    end if;
    return new;
  end $$;
  create or replace trigger strike before insert or update on billing.payments
    for each row execute function strike();
  create or replace trigger strike before insert or update on billing.webhook_calls
    for each row execute function strike();
  create or replace trigger strike before insert or update on billing.events
    for each row execute function strike();
  create or replace trigger strike before insert or update on billing.deliveries
    for each row execute function strike();
  create or replace trigger strike before insert or update on billing.deferred_events
    for each row execute function strike();`

const emptied = `
  set local session_replication_role = replica;
  delete from billing.payments; delete from billing.payment_methods; delete from billing.disputes;
  delete from billing.payment_transitions; delete from billing.webhook_calls;
  delete from billing.events; delete from billing.deliveries;
  delete from billing.deferred_events; delete from billing.listeners;
  delete from billing.subscription_periods; delete from billing.subscriptions;
  delete from faults; delete from notes; alter sequence strikes restart;`

/** Declares the room of a test file. */
export function useRoom(): Room {
  const room = {
    on: (types, run, { name = 'listener', superseded = false } = {}) =>
      room.listeners.add({ name, types: [types].flat(), queued: false, superseded, run }),
    onQueued: (type, run = () => {}, { name = 'queued', superseded = false } = {}) =>
      room.listeners.add({ name, types: [type], queued: true, superseded, run }),
  } as Room
  let drop: () => Promise<void>
  before(async () => {
    const { target, ...made } = await postgres.create()
    drop = made.drop
    const database = connect({
      target,
      schema: testSchema,
      log: silentLog,
      poolSize: 6,
      applicationName: 'room',
      patience: muchPatience,
      statementTimeout: muchPatience.statement,
    })
    const seen = inTestSchema(database)
    await seen.pool.query(scenery)
    Object.assign(room, { database: seen, db: seen.db })
  })
  beforeEach(async () => {
    await room.database.pool.query(emptied)
    const given = givenIn(room)
    const give = (more: Partial<Given>) => Object.assign(room, entrancesOf({ ...given, ...more }))
    Object.assign(room, { give, interpret: stating.interpret })
    give({})
  })
  after(async () => {
    await room.database.close()
    await drop()
  })
  return room
}

/** Anew for a test; what can be looked at is put into the room. */
function givenIn(room: Room): Given {
  const { database } = room
  const { log, lines } = capturedLog()
  const woken: string[] = []
  const listeners = createListenerRegistry()
  Object.assign(room, { lines, woken, listeners, begunAt: Date.now() })
  const asking: Gateway = {
    ...stating,
    name: 'asking',
    interpret: (...asked) => room.interpret(...asked),
  }
  return {
    database,
    listeners,
    log,
    gateways: createRegistry([stating, asking], {}),
    cipher: undefined,
    listenersMayTakeMs: 90_000,
    random: () => 1,
    scrub: (text) => text.replaceAll('hush', '[secret]'),
    bind: ({ db }, afterCommit) => ({
      payments: {
        create: async () => {
          afterCommit(() => woken.push('created'))
          return payment(room)
        },
        get: (id) => findPayment(db, id),
        list: () => Promise.reject(new Error('nobody lists here')),
      },
      subscriptions: {
        access: () => Promise.reject(new Error('nobody asks here')),
        list: () => Promise.reject(new Error('nobody lists here')),
      },
    }),
    wake: () => woken.push('workers'),
  }
}

/** Another process registers a listener that this one lacks. */
export async function newcomer({ db }: Room, ...types: readonly EventType[]): Promise<void> {
  const known = { name: 'newcomer', event_types: [...types], queued: false }
  await db.insertInto('billing.listeners').values(known).execute()
}

/** A pending charge of 100.00 USD at the gateway `stating`. */
export async function payment(
  { db }: Room,
  fields: Partial<Insertable<PaymentsTable>> = {},
): Promise<Payment> {
  const row = {
    id: newUuid(),
    gateway: 'stating',
    amount: 10_000n,
    currency: 'USD',
    payable_type: 'order',
    payable_id: '42',
    ...fields,
  }
  const inserted = db.insertInto('billing.payments').values(row).returningAll()
  return toPayment(await inserted.executeTakeFirstOrThrow())
}

export async function statusOf({ db }: Room, { id }: Known): Promise<string> {
  return (await findPayment(db, id))?.status ?? 'gone'
}

/** A stored callback that means these outcomes, and that is ours to process. */
export async function call(
  room: Room,
  statements: readonly Statement[],
  fields: Partial<Insertable<WebhookCallsTable>> = {},
): Promise<LeasedCall> {
  const { body, headers, target } = statedCall(statements)
  const row = {
    id: newUuid(),
    gateway: 'stating',
    queue: 'default',
    url: target,
    headers: JSON.stringify(headers),
    kind: 'json' as const,
    payload: Buffer.from(body ?? '').toString(),
    ...fields,
  }
  await room.db.insertInto('billing.webhook_calls').values(row).execute()
  return leaseCall(room, row)
}

/** A pending charge, and a call that pays it. */
export async function paying(
  room: Room,
  fields: Partial<Insertable<WebhookCallsTable>> = {},
): Promise<{ readonly order: Payment; readonly leased: LeasedCall }> {
  const order = await payment(room)
  return { order, leased: await call(room, [paid(order)], fields) }
}

type FieldsOf<Table, Given extends keyof Insertable<Table>> = Partial<Insertable<Table>> &
  Pick<Insertable<Table>, Given>

/** A delivery that is ours. */
export async function delivery(
  room: Room,
  fields: FieldsOf<DeliveriesTable, 'event_id' | 'listener'>,
): Promise<LeasedDelivery> {
  const row = { id: newUuid(), queue: 'default', ...fields }
  await room.db.insertInto('billing.deliveries').values(row).execute()
  return leaseDelivery(room, row)
}

/** A deferred event that is ours. */
export async function deferral(
  room: Room,
  fields: FieldsOf<DeferredEventsTable, 'dedup_key' | 'type' | 'cause'>,
): Promise<LeasedEvent> {
  const row = { id: newUuid(), queue: 'default', ...fields }
  await room.db.insertInto('billing.deferred_events').values(row).execute()
  return leaseDeferred(room, row)
}

/** Makes a pending call ours; as its row is now. */
export function leaseCall({ db }: Room, row: Known): Promise<LeasedCall> {
  return leaseRow(db, webhookCalls, row)
}

/** The same for a delivery. */
export function leaseDelivery({ db }: Room, row: Known): Promise<LeasedDelivery> {
  return leaseRow(db, leasedDeliveries, row)
}

/** The same for a deferred event. */
export function leaseDeferred({ db }: Room, row: Known): Promise<LeasedEvent> {
  return leaseRow(db, deferredEvents, row)
}

async function leaseRow<Row extends QueueRow>(
  db: Kysely<Tables>,
  { name, columns }: QueueTable<Row>,
  { id }: Known,
): Promise<Row> {
  const { rows } = await sql<Row>`
    update ${sql.table(name)} as row set state = 'processing', lease_token = ${newUuid()}::uuid,
      lease_until = clock_timestamp() + interval '30 s'
    where id = ${id}::uuid
    returning row.id, row.lease_token as token, ${columns},
      row.attempts, row.leases_lost, row.times_returned`.execute(db)
  return rows[0] ?? assert.fail(`${id} is not in ${name}`)
}

/** Another worker takes the row over. */
export async function stealLease(
  { db }: Room,
  table: 'webhook_calls' | 'deliveries' | 'deferred_events',
  { id }: Known,
): Promise<void> {
  await sql`update ${sql.table(`billing.${table}`)} set lease_token = ${newUuid()}::uuid
    where id = ${id}::uuid`.execute(db)
}

export function callRow({ db }: Room, { id }: Known): Promise<CallRow> {
  const row = db.selectFrom('billing.webhook_calls').selectAll().where('id', '=', id)
  return row.executeTakeFirstOrThrow()
}

/** What is stored as the result of a call. */
export async function outcomeOf(room: Room, call: Known): Promise<unknown> {
  return JSON.parse((await callRow(room, call)).outcome ?? 'null')
}

/** All deliveries, oldest first. */
export function deliveries({ db }: Room): Promise<DeliveryRow[]> {
  return db.selectFrom('billing.deliveries').selectAll().orderBy('id').execute()
}

export function deliveryRow({ db }: Room, { id }: Known): Promise<DeliveryRow> {
  const row = db.selectFrom('billing.deliveries').selectAll().where('id', '=', id)
  return row.executeTakeFirstOrThrow()
}

/** All deferred events, oldest first. */
export function deferredRows({ db }: Room): Promise<DeferredRow[]> {
  return db.selectFrom('billing.deferred_events').selectAll().orderBy('id').execute()
}

export function deferredRow({ db }: Room, { id }: Known): Promise<DeferredRow> {
  const row = db.selectFrom('billing.deferred_events').selectAll().where('id', '=', id)
  return row.executeTakeFirstOrThrow()
}

/** All events, oldest first. */
export function events({ db }: Room): Promise<EventRow[]> {
  return db.selectFrom('billing.events').selectAll().orderBy('created_at').orderBy('id').execute()
}

export async function eventTypes(room: Room): Promise<readonly string[]> {
  return (await events(room)).map(({ type }) => type)
}

/** How many rows each transaction has ended, in the order of the transactions. */
export async function endedTogether(
  { database }: Room,
  table: 'webhook_calls' | 'deferred_events',
): Promise<readonly number[]> {
  const { rows } = await database.pool.query<{ count: number }>(
    `select count(*)::int from billing.${table}
     group by xmin, processed_at order by processed_at`,
  )
  return rows.map(({ count }) => count)
}

/** What listeners wrote, as far as it is committed; in its order. */
export async function notes({ database }: Room): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ author: string; about: string }>(
    'select author, about from notes order by place',
  )
  return rows.map(({ author, about }) => `${author} ${about}`)
}

export async function fault({ database }: Room, struck: Fault): Promise<void> {
  const { table, on: operation, state, sqlState, times = 1_000_000 } = struck
  const row = [table, operation, state, sqlState, times]
  await database.pool.query('insert into faults values ($1, $2, $3, $4, $5)', row)
}

const levels: Readonly<Record<number, string>> = { 30: 'info', 40: 'warn', 50: 'error' }

/** What was logged, e.g. `warn attempt failed, will be retried`. */
export function logged({ lines }: Room): readonly string[] {
  return lines.map(({ level, msg }) => `${levels[Number(level)]} ${String(msg)}`)
}

/** The fields of the one line that says so. */
export function lineOf({ lines }: Room, text: string): Record<string, unknown> {
  const found = lines.filter(({ msg }) => msg === text)
  assert.equal(found.length, 1, `${found.length} lines say: ${text}`)
  const {
    level: _level,
    time: _time,
    pid: _pid,
    hostname: _host,
    msg: _msg,
    ...fields
  } = found[0] ?? {}
  return fields
}

/** Asserts that it is due so many seconds after it was written: since the test began, until now. */
export function assertDueAfter({ begunAt }: Room, at: Date | null, seconds: number): void {
  const [now, due] = [Date.now(), at?.getTime() ?? Number.NaN]
  const rounding = 2
  const earliest = begunAt + seconds * 1000 - rounding
  const isRight = due >= earliest && due <= now + seconds * 1000 + rounding
  assert.ok(
    isRight,
    `due ${(due - now) / 1000} s from now on, not ${seconds} s after it was written`,
  )
}

/** Timers of this length strike at once, and then so much time has passed. */
export function shortTimers(t: TestContext, lengthMs: number): void {
  const shortened = (ms?: number) => (ms === lengthMs ? 5 : ms)
  const real = globalThis.setTimeout
  const clock = performance.now.bind(performance)
  let passed = 0
  t.mock.method(performance, 'now', () => clock() + passed)
  const short = (run: () => void, ms?: number) => {
    const strike = () => {
      passed += lengthMs
      run()
    }
    return real(ms === lengthMs ? strike : run, shortened(ms))
  }
  t.mock.method(globalThis, 'setTimeout', short as typeof setTimeout)
  const pause = timers.setTimeout
  const pauses = t.mock.method(timers, 'setTimeout', (ms?: number) => pause(shortened(ms)))
  // Whoever has imported it sees it only so.
  syncBuiltinESMExports()
  t.after(() => {
    pauses.mock.restore()
    syncBuiltinESMExports()
  })
}

export { handClock } from '../../support/hand-clock.ts'

/** Every statement that is sent from now on, by whichever connection. */
export function statements(t: TestContext): string[] {
  const sent: string[] = []
  const { parse, query } = pg.Connection.prototype as unknown as Record<'parse' | 'query', Send>
  const spy = (name: string, send: Send, textOf: (asked: unknown) => string) =>
    t.mock.method(
      pg.Connection.prototype,
      name as never,
      function (this: unknown, asked: unknown) {
        sent.push(textOf(asked))
        return send.call(this, asked)
      } as never,
    )
  spy('parse', parse, (asked) => (asked as { readonly text: string }).text)
  spy('query', query, String)
  return sent
}

/** Statements that are lost on their way: nothing is heard of them. Not beside `statements`. */
export function unanswered(t: TestContext, statement: RegExp): string[] {
  const lost: string[] = []
  const { query } = pg.Connection.prototype as unknown as Record<'query', Send>
  t.mock.method(
    pg.Connection.prototype,
    'query' as never,
    function (this: unknown, asked: unknown) {
      if (!statement.test(String(asked))) return query.call(this, asked)
      lost.push(String(asked))
      return undefined
    } as never,
  )
  return lost
}

type Send = (this: unknown, asked: unknown) => unknown
