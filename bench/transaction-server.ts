/** Baseline: one transaction a request with a job written by hand. */
import { serveTransactions } from './serve-transactions.ts'

await serveTransactions({
  tables: `
    create table jobs (
      id bigint generated always as identity primary key,
      call_id bigint not null references calls,
      state text not null default 'pending',
      run_at timestamptz not null default now()
    );
    create index on jobs (run_at, id) where state = 'pending'`,
  add: (transaction, callId) =>
    transaction.query('insert into jobs (call_id) values ($1)', [callId]),
})
