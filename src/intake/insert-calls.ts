import type pg from 'pg'
import { binaryArray, uuidBytes } from '../database/binary-array.ts'
import { leaseLength } from '../queue/lease.ts'

/** A verified callback on its way into the database. */
export interface NewCall {
  readonly id: string
  readonly gateway: string
  readonly queue: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly kind: 'json' | 'form' | 'unreadable'
  readonly payload: string | null
  /** The exact bytes. */
  readonly bytes: Uint8Array
  /** Whether `payload` alone carries the whole truth, so that the bytes need not be kept. */
  readonly exact: boolean
  /** Set where this process takes the call at once (`sync`). */
  readonly leaseToken: string | null
}

type Queryable = Pick<pg.PoolClient, 'query'>

const columns = 'id, gateway, queue, url, headers, kind, payload, body, lease_token'

/** One parameter a column, whatever the number of calls: the text and its plan stay small. */
const insert = `insert into billing.webhook_calls (${columns}, state, lease_until)
  select ${columns},
    case when lease_token is null then 'pending' else 'processing' end,
    case when lease_token is not null then clock_timestamp() + interval '${leaseLength} ms' end
  from (
    select unnest($1::uuid[]), unnest($2::text[]), unnest($3::text[]), unnest($4::text[]),
      unnest($5::json[]), unnest($6::text[]), unnest($7::json[]), unnest($8::bytea[]),
      unnest($9::uuid[])
  ) as call (${columns})
  on conflict (id) do nothing`

/**
 * Stores calls in one statement, which is one transaction: all or none. The stored call is its own
 * place in the queue.
 */
export async function insertCalls(db: Queryable, calls: readonly NewCall[]): Promise<void> {
  await db.query(insert, [
    binaryArray(
      'uuid',
      calls.map(({ id }) => uuidBytes(id)),
    ),
    binaryArray(
      'text',
      calls.map(({ gateway }) => gateway),
    ),
    binaryArray(
      'text',
      calls.map(({ queue }) => queue),
    ),
    binaryArray(
      'text',
      calls.map(({ url }) => url),
    ),
    binaryArray(
      'json',
      calls.map(({ headers }) => JSON.stringify(headers)),
    ),
    binaryArray(
      'text',
      calls.map(({ kind }) => kind),
    ),
    binaryArray(
      'json',
      calls.map(({ payload }) => payload),
    ),
    binaryArray(
      'bytea',
      calls.map(({ exact, bytes }) => (exact ? null : bytes)),
    ),
    binaryArray(
      'uuid',
      calls.map(({ leaseToken }) => leaseToken && uuidBytes(leaseToken)),
    ),
  ])
}

/** The same call with nothing that a text column could refuse; it is parsed when it is processed. */
export function asBytes(call: NewCall): NewCall {
  const url = call.url.replaceAll('\0', '%00')
  return { ...call, url, kind: 'unreadable', payload: null, exact: false }
}
