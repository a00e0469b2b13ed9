/** Baseline: the usual stack, one transaction a request with a job by pg-boss. */
import { PgBoss } from 'pg-boss'
import { connectionString, serveTransactions } from './serve-transactions.ts'

const queue = 'calls'
const boss = new PgBoss({ connectionString, supervise: false, schedule: false })
await boss.start()
await boss.createQueue(queue)

await serveTransactions({
  add: (transaction, callId) => {
    const executeSql = (sql: string, values?: unknown[]) => transaction.query(sql, values)
    return boss.send(queue, { callId }, { db: { executeSql } })
  },
})
