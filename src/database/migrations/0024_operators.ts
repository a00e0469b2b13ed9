import { sql, type Kysely } from 'kysely'
import { runStatements } from './run-statements.ts'

/**
 * Who may act, by a token of their own. Of tokens and of the ids of sessions only a hash is here: a
 * dump opens nothing. A session ends with the operator that began it; one that was begun by a token
 * of the settings has `token_proof` instead, which fits that token and the id of the session alone.
 * `operator_actions`: who did what; it names operators that may be gone, and is never pruned.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await runStatements(db, [
    sql`create table billing.operators (
      id uuid not null,
      name text not null,
      role text not null check (role in ('viewer', 'operator')),
      token_hash bytea not null check (octet_length(token_hash) = 32),
      created_at timestamptz(3) not null default statement_timestamp(),
      expires_at timestamptz(3),
      constraint operators_pkey primary key (id),
      constraint operators_name_key unique (name),
      constraint operators_token_hash_key unique (token_hash)
    )`,
    sql`create table billing.operator_sessions (
      id_hash bytea not null check (octet_length(id_hash) = 32),
      operator text not null,
      role text not null check (role in ('viewer', 'operator')),
      operator_id uuid,
      token_proof bytea check (octet_length(token_proof) = 32),
      created_at timestamptz(3) not null default statement_timestamp(),
      used_at timestamptz(3) not null default statement_timestamp(),
      ends_at timestamptz(3) not null,
      proved_at timestamptz(3) not null default statement_timestamp(),
      constraint operator_sessions_pkey primary key (id_hash),
      constraint operator_sessions_operator_id_fkey foreign key (operator_id)
        references billing.operators (id) on delete cascade,
      constraint operator_sessions_token check ((operator_id is null) = (token_proof is not null))
    )`,
    sql`create index operator_sessions_operator on billing.operator_sessions (operator)`,
    sql`create index operator_sessions_operator_id on billing.operator_sessions (operator_id)
      where operator_id is not null`,
    sql`create table billing.operator_actions (
      id uuid not null,
      at timestamptz(3) not null default statement_timestamp(),
      operator text not null,
      via text not null check (via in ('console', 'api', 'cli')),
      action text not null,
      subject text,
      detail json not null,
      outcome text,
      constraint operator_actions_pkey primary key (id)
    )`,
    sql`create index operator_actions_at on billing.operator_actions (at, id)`,
    sql`create index operator_actions_operator on billing.operator_actions (operator, at, id)`,
    sql`create index operator_actions_subject on billing.operator_actions (subject, at, id)
      where subject is not null`,
  ])
}
