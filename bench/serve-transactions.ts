import pg from 'pg'
import { serve } from './serve-plainly.ts'

export const connectionString = process.env['DATABASE_URL'] ?? ''

export interface Jobs {
  /** SQL that makes what they need beside the calls. */
  readonly tables?: string
  add(transaction: pg.PoolClient, callId: string | undefined): Promise<unknown>
}

/**
 * Serves as the bare server does, and stores each call and its job in a transaction of their own;
 * answers after the commit.
 */
export async function serveTransactions(jobs: Jobs): Promise<void> {
  const pool = new pg.Pool({ connectionString, max: 10 })
  await pool.query(`
    create table calls (
      id bigint generated always as identity primary key,
      event_id text not null,
      headers json not null,
      payload json not null,
      received_at timestamptz not null default now()
    );
    ${jobs.tables ?? ''}`)
  serve(async ({ id, text }, request) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const { rows } = await client.query<{ id: string }>(
        'insert into calls (event_id, headers, payload) values ($1, $2, $3) returning id',
        [id, JSON.stringify(request.headers), text],
      )
      await jobs.add(client, rows[0]?.id)
      await client.query('commit')
    } finally {
      client.release()
    }
  })
}
