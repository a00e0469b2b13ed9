/**
 * Baseline: the usual stack. The same check as the bare server, then one transaction a request:
 * the call, and its job with pg-boss; answered after the commit.
 */
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { serve } from './serve-plainly.ts'

const connectionString = process.env['DATABASE_URL'] ?? ''
const pool = new pg.Pool({ connectionString, max: 10 })
const boss = new PgBoss({ connectionString, supervise: false, schedule: false })
const queue = 'calls'

await boss.start()
await boss.createQueue(queue)
await pool.query(`
  create table calls (
    id bigint generated always as identity primary key,
    event_id text not null,
    headers json not null,
    payload json not null,
    received_at timestamptz not null default now()
  )`)

serve(async ({ id, text }, request) => {
  const client = await pool.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query<{ id: string }>(
      'insert into calls (event_id, headers, payload) values ($1, $2, $3) returning id',
      [id, JSON.stringify(request.headers), text],
    )
    const db = { executeSql: (sql: string, values?: unknown[]) => client.query(sql, values) }
    await boss.send(queue, { callId: rows[0]?.id }, { db })
    await client.query('commit')
  } finally {
    client.release()
  }
})
