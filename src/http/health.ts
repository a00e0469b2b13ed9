import { Hono } from 'hono'
import type { BillingCore } from '../billing/types.ts'
import type { Secret } from '../kernel/secret.ts'
import { shareLooks } from './share-looks.ts'
import { json, onlyAllow } from './respond.ts'
import { answerTo, isQuestion, questionHeader } from './same-database.ts'

export const healthPaths: ReadonlySet<string> = new Set(['/healthz', '/readyz'])

export interface HealthOptions {
  /** Whether strangers cannot get there: how much is waiting is none of their business. */
  readonly isPrivate?: boolean
  /** Where this process is asked whether it uses a certain database. */
  readonly databaseKey?: (() => Promise<Secret>) | undefined
}

/** `/healthz`: this process answers. `/readyz`: callbacks can be stored and are being processed. */
export function health(core: BillingCore, { isPrivate = false, databaseKey }: HealthOptions): Hono {
  const app = new Hono()
  // Anybody may ask: however many do, only one connection to the database is busy with it.
  const look = shareLooks(() => core.readiness())
  app.get('/healthz', async (c) => {
    const question = c.req.header(questionHeader)
    const asked = databaseKey !== undefined && isQuestion(question)
    // While the database does not answer, nobody can tell, and this process is well all the same.
    const key = asked ? await databaseKey().catch(() => undefined) : undefined
    const database = key && asked ? answerTo(question, key) : undefined
    return json(200, { status: 'ok', database })
  })
  app.get('/readyz', async () => {
    const { ready, problems, warnings, pendingCalls, oldestPendingSeconds } = await look('')
    const waiting = { pending_calls: pendingCalls, oldest_pending_seconds: oldestPendingSeconds }
    return json(ready ? 200 : 503, { ready, problems, warnings, ...(isPrivate && waiting) })
  })
  for (const path of healthPaths) app.all(path, onlyAllow('GET, HEAD'))
  return app
}
