import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import { webhookCalls } from '../../../src/queue/calls.ts'
import { deferredEvents } from '../../../src/queue/deferred-events.ts'
import { deliveries } from '../../../src/queue/deliveries.ts'
import type { Lease, QueueTable } from '../../../src/leases/leased-table.ts'
import type { TakeOptions } from '../../../src/leases/queue-rows.ts'
import { idOf, type Name } from '../outcomes/room.ts'

/** The tables whose rows are queue entries. */
export type TableName = 'calls' | 'deliveries' | 'deferred'
export const tables: Readonly<Record<TableName, QueueTable>> = {
  calls: webhookCalls,
  deliveries,
  deferred: deferredEvents,
}

export const token = '99999999-9999-7999-8999-999999999999'
export const otherToken = '88888888-8888-7888-8888-888888888888'
export const leaseOf = (name: Name, by = token): Lease => ({ id: idOf(name), token: by })

/** Takes everything that may be taken, if nothing else is said. */
export const taking = (options: Partial<TakeOptions> = {}): TakeOptions => ({
  limit: 10,
  token,
  alone: false,
  listeners: [],
  ...options,
})

/** Columns that a row is given, beside those that every row needs. */
export type Columns = Readonly<Record<string, unknown>>

/** A row that came a minute ago and has been due since, with these columns. */
export async function row(
  db: Kysely<Tables>,
  table: TableName,
  { name, ...columns }: Columns & { readonly name: Name },
): Promise<void> {
  const ago = sql`now() - interval '1 min'`
  const came = table === 'calls' ? 'received_at' : 'created_at'
  const kinds = {
    calls: { gateway: 'x', url: '/', headers: '{}', kind: 'json', payload: '{}' },
    deliveries: { event_id: idOf(name), listener: 'queued' },
    deferred: { dedup_key: `key ${name}`, type: 'PaymentFailed', cause: 'poll' },
  }
  if (table === 'deliveries') {
    await sql`insert into billing.events (id, dedup_key, type, source)
      values (${idOf(name)}, ${`key ${name}`}, 'PaymentFailed', 'poll')`.execute(db)
  }
  const values = Object.entries({
    id: idOf(name),
    queue: 'default',
    next_attempt_at: ago,
    [came]: ago,
    ...kinds[table],
    ...columns,
  })
  await sql`insert into ${sql.table(tables[table].name)}
    (${sql.join(values.map(([column]) => sql.ref(column)))})
    values (${sql.join(values.map(([, value]) => value))})`.execute(db)
}

/** One that this process has leased. */
export const leased = (until = sql`now() + interval '10 s'`): Columns => ({
  state: 'processing',
  lease_token: token,
  lease_until: until,
})

/** These expressions of each row, by their names' order; null as `-`. */
export async function read(
  db: Kysely<Tables>,
  table: TableName,
  expressions: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ text: string }>`
    select left(id::text, 1) || ' ' || array_to_string(array[${sql.raw(
      expressions
        .split(';')
        .map((one) => `(${one})::text`)
        .join(', '),
    )}], ' ', '-') as text
    from ${sql.table(tables[table].name)} order by id`.execute(db)
  return rows.map(({ text }) => text)
}

/** Whether a time lies so many seconds ahead, or up to 5 s less: the test takes its time, too. */
export const ahead = (column: string, seconds: number): string =>
  `${column} - clock_timestamp() between interval '${seconds - 5} s' and interval '${seconds} s'`
