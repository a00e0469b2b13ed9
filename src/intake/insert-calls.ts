import type pg from 'pg'
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

const columns =
  'id, gateway, queue, url, headers, kind, payload, body, lease_token, state, lease_until'
const boundColumns = 9

type Queryable = Pick<pg.PoolClient, 'query'>

/**
 * Stores calls in one statement, which is one transaction: all or none. The stored call is its own
 * place in the queue.
 */
export async function insertCalls(db: Queryable, calls: readonly NewCall[]): Promise<void> {
  await db.query(
    `insert into billing.webhook_calls (${columns}) values ${placeholders(calls)}
     on conflict (id) do nothing`,
    calls.flatMap(valuesOf),
  )
}

/** One text a row, made once: each flush takes as many as it has calls. */
const rowTexts: string[] = []

function placeholders(calls: readonly NewCall[]): string {
  while (rowTexts.length < calls.length) rowTexts.push(rowText(rowTexts.length))
  return rowTexts.slice(0, calls.length).join(', ')
}

function rowText(row: number): string {
  const first = row * boundColumns
  const bound = Array.from({ length: boundColumns }, (_, column) => `$${first + column + 1}`)
  const isLeased = `$${first + boundColumns}::uuid is not null`
  return `(${bound.join(', ')}, case when ${isLeased} then 'processing' else 'pending' end,
    case when ${isLeased} then clock_timestamp() + interval '${leaseLength} ms' end)`
}

function valuesOf(call: NewCall): readonly unknown[] {
  return [
    call.id,
    call.gateway,
    call.queue,
    call.url,
    JSON.stringify(call.headers),
    call.kind,
    call.payload,
    call.exact ? null : Buffer.from(call.bytes),
    call.leaseToken,
  ]
}

/** The same call with nothing that a text column could refuse; it is parsed when it is processed. */
export function asBytes(call: NewCall): NewCall {
  const url = call.url.replaceAll('\0', '%00')
  return { ...call, url, kind: 'unreadable', payload: null, exact: false }
}
