import { sql, type Kysely, type RawBuilder } from 'kysely'
import { hours, minutes } from '../kernel/duration.ts'
import type { OperatorRole } from '../wire/operator.ts'
import { sqlStateOf } from './failure.ts'
import { interval } from './interval.ts'
import type { Tables } from './tables.ts'

/** A session as it stands; by the database's clock. */
export interface SessionRow {
  readonly operator: string
  readonly role: OperatorRole
  /** Of one that a token of the settings began: whoever reads it has to compare it. */
  readonly tokenProof: Uint8Array | null
  readonly createdAt: Date
  readonly endsAt: Date
  readonly provedAt: Date
  /** Whether the token was shown so lately that money may be moved. */
  readonly isProved: boolean
  /** Whether its last use was written so long ago that this one is. */
  readonly isUnwritten: boolean
}

const idle = minutes(60)
const longest = hours(12)
const proofHolds = minutes(15)
const writtenEvery = minutes(1)

// The operator's own row says what it may now; a session of the settings has none.
const columns = sql`session.operator, coalesce(operator.role, session.role) as role, session.token_proof as "tokenProof",
  session.created_at as "createdAt", session.ends_at as "endsAt", session.proved_at as "provedAt",
  session.proved_at > statement_timestamp() - ${interval(proofHolds)} as "isProved",
  session.used_at <= statement_timestamp() - ${interval(writtenEvery)} as "isUnwritten"`

/** The token of the operator may end before the session would. */
const holds = sql`(operator.expires_at is null or operator.expires_at > statement_timestamp())`

const hasNotEnded = sql`session.ends_at > statement_timestamp()
  and session.used_at > statement_timestamp() - ${interval(idle)}
  and (session.operator_id is null or (operator.id is not null and ${holds}))`

/** False: the operator is gone, or its token has expired. */
export async function insertSession(
  db: Kysely<Tables>,
  idHash: Uint8Array,
  operatorId: string,
): Promise<boolean> {
  const insert = sql`
    insert into billing.operator_sessions as session (id_hash, operator, role, operator_id, ends_at)
    select ${Buffer.from(idHash)}::bytea, operator.name, operator.role, operator.id,
      statement_timestamp() + ${interval(longest)}
    from billing.operators as operator where operator.id = ${operatorId}::uuid and ${holds}
    returning session.operator`
  try {
    return (await insert.execute(db)).rows.length > 0
  } catch (error) {
    // Removed in this moment.
    if (sqlStateOf(error) === '23503') return false
    throw error
  }
}

/** One that is begun by a token of the settings. */
export async function insertSettingSession(
  db: Kysely<Tables>,
  session: {
    readonly idHash: Uint8Array
    readonly operator: string
    readonly role: OperatorRole
    readonly tokenProof: Uint8Array
  },
): Promise<void> {
  const { idHash, operator, role, tokenProof } = session
  await sql`
    insert into billing.operator_sessions (id_hash, operator, role, token_proof, ends_at)
    values (${Buffer.from(idHash)}::bytea, ${operator}, ${role}, ${Buffer.from(tokenProof)}::bytea,
      statement_timestamp() + ${interval(longest)})`.execute(db)
}

/** Undefined: there is none, or it has ended. */
export async function findLiveSession(
  db: Kysely<Tables>,
  idHash: Uint8Array,
): Promise<SessionRow | undefined> {
  const { rows } = await sql<SessionRow>`
    select ${columns} from billing.operator_sessions as session
    left join billing.operators as operator on operator.id = session.operator_id
    where session.id_hash = ${Buffer.from(idHash)}::bytea and ${hasNotEnded}`.execute(db)
  return rows[0]
}

/** At most once a minute, however many requests come at the same time. */
export async function writeUse(db: Kysely<Tables>, idHash: Uint8Array): Promise<void> {
  await sql`
    update billing.operator_sessions set used_at = statement_timestamp()
    where id_hash = ${Buffer.from(idHash)}::bytea
      and used_at <= statement_timestamp() - ${interval(writtenEvery)}`.execute(db)
}

/** `tokenHash`: only if the token of this hash began it. */
export async function writeProof(
  db: Kysely<Tables>,
  idHash: Uint8Array,
  tokenHash?: Uint8Array,
): Promise<boolean> {
  const { rows } = await sql`
    update billing.operator_sessions as session
    set proved_at = statement_timestamp(), used_at = statement_timestamp()
    where session.id_hash = ${Buffer.from(idHash)}::bytea and ${provedBy(tokenHash)}
    returning session.operator`.execute(db)
  return rows.length > 0
}

function provedBy(tokenHash: Uint8Array | undefined): RawBuilder<unknown> {
  if (tokenHash === undefined) return sql`session.operator_id is null`
  return sql`session.operator_id = (select operator.id from billing.operators as operator
    where operator.token_hash = ${Buffer.from(tokenHash)}::bytea and ${holds})`
}

export async function deleteSession(db: Kysely<Tables>, idHash: Uint8Array): Promise<void> {
  await db
    .deleteFrom('billing.operator_sessions')
    .where('id_hash', '=', Buffer.from(idHash))
    .execute()
}

/** Of an operator, by name. Returns how many. */
export async function deleteSessionsOf(db: Kysely<Tables>, operator: string): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('billing.operator_sessions')
    .where('operator', '=', operator)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Nobody can use them again. Those whose token has expired end in half a day at most. */
export async function deleteEndedSessions(db: Kysely<Tables>): Promise<void> {
  await sql`
    delete from billing.operator_sessions
    where ends_at <= statement_timestamp()
      or used_at <= statement_timestamp() - ${interval(idle)}`.execute(db)
}
