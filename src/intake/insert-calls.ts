import type pg from 'pg'
import { binaryArray, uuidBytes, type Element, type ElementType } from '../database/binary-array.ts'
import { bodyContext } from '../database/calls.ts'
import { nameComment } from '../database/named-statements.ts'
import type { Cipher } from '../kernel/encryption.ts'
import type { LeasedCall } from '../queue/calls.ts'
import { leaseLength } from '../queue/take-rows.ts'

/** A verified callback, before it is in the database. */
export interface NewCall {
  /** A canonical UUID, like `leaseToken`: any other text would fail the whole flush. */
  readonly id: string
  readonly gateway: string
  readonly queue: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly kind: 'json' | 'form' | 'unreadable'
  readonly payload: string | null
  /**
   * The exact bytes, encrypted if they carry secrets. Null if `payload` alone carries everything
   * that is kept; never beside `unreadable`.
   */
  readonly bytes: Uint8Array | null
  readonly bytesEncrypted: boolean
  /** Of the body as it came, in bytes. */
  readonly size: number
  /** Set if this process takes the call at once (`sync`). */
  readonly leaseToken: string | null
}

type Queryable = Pick<pg.PoolClient, 'query'>

interface Column {
  readonly name: string
  readonly type: ElementType
  valueOf(call: NewCall): Element
}

const columns: readonly Column[] = [
  { name: 'id', type: 'uuid', valueOf: ({ id }) => uuidBytes(id) },
  { name: 'gateway', type: 'text', valueOf: ({ gateway }) => gateway },
  { name: 'queue', type: 'text', valueOf: ({ queue }) => queue },
  { name: 'url', type: 'text', valueOf: ({ url }) => url },
  { name: 'headers', type: 'json', valueOf: ({ headers }) => JSON.stringify(headers) },
  { name: 'kind', type: 'text', valueOf: ({ kind }) => kind },
  { name: 'payload', type: 'json', valueOf: ({ payload }) => payload },
  { name: 'body', type: 'bytea', valueOf: ({ bytes }) => bytes },
  {
    name: 'body_encrypted',
    type: 'boolean',
    valueOf: ({ bytesEncrypted }) => Uint8Array.of(bytesEncrypted ? 1 : 0),
  },
  {
    name: 'lease_token',
    type: 'uuid',
    valueOf: ({ leaseToken }) => (leaseToken === null ? null : uuidBytes(leaseToken)),
  },
]

const names = columns.map(({ name }) => name).join(', ')
const lists = columns.map(({ type }, at) => `unnest($${at + 1}::${type}[])`).join(', ')

/**
 * One parameter per column, however many calls: the server needs longer to read and plan a list of
 * VALUES than to store it.
 */
const insert = `${nameComment('insert-calls')}insert into billing.webhook_calls (${names}, state, lease_until)
  select ${names},
    case when lease_token is null then 'pending' else 'processing' end,
    case when lease_token is not null then leased_until end
  from (select ${lists}, statement_timestamp() + interval '${leaseLength} ms')
    as call (${names}, leased_until)
  on conflict (id) do nothing`

/**
 * Stores calls in one statement, which is one transaction: all or none. The stored call is its own
 * queue entry. Returns how many were not there before.
 */
export async function insertCalls(db: Queryable, calls: readonly NewCall[]): Promise<number> {
  const { rowCount } = await db.query(
    insert,
    columns.map(({ type, valueOf }) => binaryArray(type, calls.map(valueOf))),
  )
  return rowCount ?? 0
}

/**
 * The same call without anything that a text column could refuse; it is parsed when it is
 * processed. Nobody has looked for secrets in it, so its bytes are encrypted if there is a key.
 */
export function asBytes(call: NewCall, cipher: Cipher | undefined): NewCall {
  const url = call.url.replaceAll('\0', '%00')
  const bytes = call.bytes ?? Buffer.from(call.payload ?? '')
  const unread = { ...call, url, kind: 'unreadable', payload: null, bytes } as const
  if (cipher === undefined || call.bytesEncrypted) return unread
  return { ...unread, bytes: cipher.encrypt(bytes, bodyContext(call.id)), bytesEncrypted: true }
}

/** The stored call as its first worker takes it. */
export function asLeased(call: NewCall, token: string): LeasedCall {
  const { id, gateway, queue, kind, payload, bytes, bytesEncrypted } = call
  const readsBytes = bytes !== null && (kind === 'unreadable' || bytesEncrypted)
  return {
    id,
    token,
    gateway,
    queue,
    kind,
    payload,
    body: readsBytes ? Buffer.from(bytes) : null,
    body_encrypted: bytesEncrypted,
    attempts: 0,
    leases_lost: 0,
    times_returned: 0,
  }
}
