import type pg from 'pg'
import { binaryArray, uuidBytes, type Element, type ElementType } from '../database/binary-array.ts'
import { bodyContext } from '../database/calls.ts'
import { nameComment } from '../database/named-statements.ts'
import type { Cipher } from '../kernel/encryption.ts'
import { snakeCase } from '../kernel/field-names.ts'
import type { LeasedCall } from '../queue/calls.ts'
import { queueLease } from '../leases/queue-rows.ts'

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
  readonly body: Uint8Array | null
  readonly bodyEncrypted: boolean
  /** Of the body as it came, in bytes. */
  readonly size: number
  /** Set if this process takes the call at once (`sync`). */
  readonly leaseToken: string | null
}

/** Sends a statement that is written as a text. */
export interface Queryable {
  query(text: string, values: readonly unknown[]): Promise<Pick<pg.QueryResult, 'rowCount'>>
}

interface Column {
  readonly type: ElementType
  valueOf(call: NewCall): Element
}

/** A column has the name of its field. The size is not stored. */
const columns: Readonly<Record<Exclude<keyof NewCall, 'size'>, Column>> = {
  id: { type: 'uuid', valueOf: ({ id }) => uuidBytes(id) },
  gateway: { type: 'text', valueOf: ({ gateway }) => gateway },
  queue: { type: 'text', valueOf: ({ queue }) => queue },
  url: { type: 'text', valueOf: ({ url }) => url },
  headers: { type: 'json', valueOf: ({ headers }) => JSON.stringify(headers) },
  kind: { type: 'text', valueOf: ({ kind }) => kind },
  payload: { type: 'json', valueOf: ({ payload }) => payload },
  body: { type: 'bytea', valueOf: ({ body }) => body },
  bodyEncrypted: {
    type: 'boolean',
    valueOf: ({ bodyEncrypted }) => Uint8Array.of(bodyEncrypted ? 1 : 0),
  },
  leaseToken: {
    type: 'uuid',
    valueOf: ({ leaseToken }) => (leaseToken === null ? null : uuidBytes(leaseToken)),
  },
}

const names = Object.keys(columns).map(snakeCase).join(', ')
const values = Object.values(columns)
const lists = values.map(({ type }, at) => `unnest($${at + 1}::${type}[])`).join(', ')

/**
 * One parameter per column, however many calls: the server needs longer to read and plan a list of
 * VALUES than to store it.
 */
const insert = `${nameComment('insert-calls')}insert into billing.webhook_calls (${names}, state, lease_until)
  select ${names},
    case when lease_token is null then 'pending' else 'processing' end,
    case when lease_token is not null then leased_until end
  from (select ${lists}, statement_timestamp() + interval '${queueLease} ms')
    as call (${names}, leased_until)
  on conflict (id) do nothing`

/**
 * Stores calls in one statement, which is one transaction: all or none. The stored call is its own
 * queue entry. Returns how many were not there before.
 */
export async function insertCalls(db: Queryable, calls: readonly NewCall[]): Promise<number> {
  const { rowCount } = await db.query(
    insert,
    values.map(({ type, valueOf }) => binaryArray(type, calls.map(valueOf))),
  )
  return rowCount ?? 0
}

/**
 * The same call without anything that a text column could refuse; it is parsed when it is
 * processed. Nobody has looked for secrets in it, so its bytes are encrypted if there is a key.
 */
export function asBytes(call: NewCall, cipher: Cipher | undefined): NewCall {
  const url = call.url.replaceAll('\0', '%00')
  const body = call.body ?? Buffer.from(call.payload ?? '')
  const unread = { ...call, url, kind: 'unreadable', payload: null, body } as const
  if (cipher === undefined || call.bodyEncrypted) return unread
  return { ...unread, body: cipher.encrypt(body, bodyContext(call.id)), bodyEncrypted: true }
}

/** The stored call as its first worker takes it. */
export function asLeased(call: NewCall, token: string): LeasedCall {
  const { id, gateway, queue, kind, payload, body, bodyEncrypted } = call
  const readsBody = body !== null && (kind === 'unreadable' || bodyEncrypted)
  return {
    id,
    token,
    gateway,
    queue,
    kind,
    payload,
    body: readsBody ? Buffer.from(body) : null,
    body_encrypted: bodyEncrypted,
    attempts: 0,
    leases_lost: 0,
    times_returned: 0,
  }
}
