/**
 * Baseline: what the usual stack does. The same check as the bare server, then one transaction a
 * request: the call, a job for it, commit; answered after the commit.
 */
import pg from 'pg'
import { serve } from './serve-plainly.ts'

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'], max: 10 })

await pool.query(`
  create table calls (
    id bigint generated always as identity primary key,
    event_id text not null,
    headers json not null,
    payload json not null,
    received_at timestamptz not null default now()
  );
  create table jobs (
    id bigint generated always as identity primary key,
    call_id bigint not null references calls,
    state text not null default 'pending',
    run_at timestamptz not null default now()
  );
  create index on jobs (run_at, id) where state = 'pending'`)

serve(async ({ id, text }, request) => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ id: string }>(
      'insert into calls (event_id, headers, payload) values ($1, $2, $3) returning id',
      [id, JSON.stringify(request.headers), text],
    )
    await client.query('insert into jobs (call_id) values ($1)', [rows[0]?.id])
    await client.query('commit')
  } finally {
    client.release()
  }
})
