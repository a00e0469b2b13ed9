import type pg from 'pg'
import { createCore } from '../../src/billing/create-core.ts'
import type { Patience } from '../../src/database/patience.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import type { BillingOptions } from '../../src/billing/options.ts'
import { capturedLog } from '../support/captured-log.ts'
import { startCutProxy, type CutProxy } from '../support/cut-proxy.ts'
import type { TestEngine } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { muchPatience } from '../support/patience.ts'

/** A billing on PostgreSQL, all of whose connections pass a proxy. */
export interface ProxiedBilling extends AsyncDisposable {
  readonly core: BillingCore
  readonly proxy: CutProxy
  /** Straight to the server, as its owner. */
  readonly direct: pg.Pool
  readonly logged: readonly Record<string, unknown>[]
  /** Names of the events that listeners were told, one entry each time. */
  readonly told: readonly string[]
  /** How many are stored, or how many of them about a payment. */
  callCount(paymentId?: string): Promise<number>
}

export interface ProxiedOptions extends Omit<BillingOptions, 'database' | 'log'> {
  readonly poolSize?: number
  readonly patience?: Partial<Patience>
  /** A role of its own for the billing: limits do not hold for the server's owner. */
  readonly role?: string
}

export async function openProxied(
  engine: TestEngine,
  { poolSize = 10, role, patience, ...options }: ProxiedOptions = {},
): Promise<ProxiedBilling> {
  // A role of its own owns the schema that it migrates.
  const created = await (role === undefined ? engine.create() : engine.createEmpty())
  const direct = directPool({ connectionString: created.url, max: 2 })
  const proxy = await startCutProxy(created.url ?? '')
  const url = new URL(proxy.url)
  if (role !== undefined) {
    await direct.query(`create role ${role} login`)
    await direct.query(`grant create on database ${url.pathname.slice(1)} to ${role}`)
    url.username = role
  }
  const { log, lines } = capturedLog()
  const told: string[] = []
  const core = createCore(
    { ...options, log, database: { url: url.href, poolSize } },
    { patience: { ...muchPatience, ...patience } },
  )
  core.on(['PaymentSucceeded', 'PaymentFailed'], 'recorder', ({ type }) => void told.push(type))
  await core.migrate()
  await core.start()
  return {
    core,
    proxy,
    direct,
    logged: lines,
    told,
    callCount: async (paymentId) => {
      const { rows } = await direct.query(
        `select count(*)::int as n from billing.webhook_calls
         where $1::text is null or payload->>'payment_id' = $1`,
        [paymentId],
      )
      return (rows[0] as { n: number }).n
    },
    [Symbol.asyncDispose]: async () => {
      await core.close()
      await proxy.close()
      if (role !== undefined) {
        await direct.query(`drop owned by ${role} cascade`)
        await direct.query(`drop role ${role}`)
      }
      await direct.end()
      await created.drop()
    },
  }
}
