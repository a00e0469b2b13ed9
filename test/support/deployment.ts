import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { connect, type Database, type DatabaseTarget } from '../../src/database/connect.ts'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { until } from './billing.ts'
import { postgres, type TestEngine } from './databases.ts'
import { fillDataFolder } from './embedded-template.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const apiToken = 'token-of-the-tests'

/**
 * A folder with a configuration whose listener writes one row an event into the table `told`, and
 * the environment to start real processes in it.
 */
export interface Deployment {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Opens the same database; the embedded one only while a service runs. */
  connect(): Promise<Database>
  remove(): Promise<void>
}

const config = `
async function teller(event, { tx }) {
  await tx.query('insert into told (type, payment_id) values ($1, $2)', [event.type, event.payment.id])
}
export default { listeners: { teller: { on: ['PaymentSucceeded', 'PaymentFailed'], run: teller } } }
`

export async function deploy(engine: TestEngine): Promise<Deployment> {
  const folder = temporaryFolder()
  const cwd = folder.path
  writeFileSync(join(cwd, 'quittance.config.js'), config)
  const created = engine === postgres ? await postgres.create() : undefined
  const dataDir = join(cwd, '.quittance')
  if (created === undefined) fillDataFolder(dataDir)
  else mkdirSync(dataDir)
  const env = {
    BILLING_API_TOKEN: apiToken,
    ...(created?.url === undefined ? {} : { DATABASE_URL: created.url }),
  }
  const target = async (): Promise<DatabaseTarget> =>
    created?.target ?? { kind: 'embedded', ...(await findEmbedded(dataDir)) }
  return {
    cwd,
    env,
    connect: async () =>
      connect({
        target: await target(),
        log: silentLog,
        poolSize: 2,
        applicationName: 'quittance test',
      }),
    remove: async () => {
      await created?.drop()
      folder[Symbol.dispose]()
    },
  }
}

/** One on PostgreSQL whose database is open beside it, with the table `told`. */
export interface OpenDeployment extends Deployment {
  readonly database: Database
}

export async function deployOpen(engine: TestEngine): Promise<OpenDeployment> {
  const deployment = await deploy(engine)
  const database = await deployment.connect()
  await makeTable(database)
  const remove = async () => {
    await database.close()
    await deployment.remove()
  }
  return { ...deployment, database, remove }
}

/**
 * Creates a payment over HTTP, again while the answer is 503, which a busy machine may give: with
 * the same id that is the same payment.
 */
export async function createOverHttp(url: string, id: string, gateway = 'fake'): Promise<boolean> {
  const create = async () => {
    const answer = await fetch(`${url}/billing/api/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        id,
        gateway,
        amount: 100,
        ...(gateway !== 'fake' && { checkout: false }),
        currency: 'UAH',
        payable: { type: 'order', id },
      }),
    })
    await answer.arrayBuffer()
    return answer.status
  }
  return (await whileBusy(create)) === 201
}

/** The first status but 503: so does a provider send again what was not taken in time. */
export async function whileBusy(send: () => Promise<number>): Promise<number> {
  let status = 503
  const isAnswered = async () => (status = await send()) !== 503
  await until(isAnswered, { what: 'it is not answered 503', limitMs: 240_000 })
  return status
}

/** Posts a fake callback over HTTP, as a provider does; the status of the answer. */
export function postFake(
  url: string,
  paymentId: string,
  result: 'success' | 'failure',
): Promise<number> {
  return whileBusy(() => postFakeOnce(url, paymentId, result))
}

/** The same without a second try: for who wants to see a 503. */
export async function postFakeOnce(
  url: string,
  paymentId: string,
  result: 'success' | 'failure',
): Promise<number> {
  const answer = await fetch(`${url}/billing/webhooks/fake`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payment_id: paymentId, result }),
  })
  await answer.arrayBuffer()
  return answer.status
}

/** Pays until it is taken. */
export async function deliverPaid(url: string, paymentId: string): Promise<void> {
  assert.equal(await postFake(url, paymentId, 'success'), 200)
}

/** The table that the configured listener writes to. */
export async function makeTable({ db }: Database): Promise<void> {
  await sql`create table if not exists told (type text, payment_id uuid)`.execute(db)
}

/** Each of these payments is paid, with one event, told to the configured listener once. */
export async function assertPaidOnce({ db }: Database, ids: readonly string[]): Promise<void> {
  const { rows } = await sql<{ status: string; events: number; told: number }>`
    select status, (select count(*)::int from billing.events where payment_id = payment.id) as events,
      (select count(*)::int from told where payment_id = payment.id) as told
    from billing.payments as payment where id = any(${[...ids]}::uuid[])`.execute(db)
  assert.equal(rows.length, ids.length)
  const odd = rows.filter(
    ({ status, events, told }) => status !== 'paid' || events !== 1 || told !== 1,
  )
  assert.deepEqual(odd, [])
}

/** Waits until no call is pending or in work; a lease that a killed process left lasts 30 s. */
export async function finished({ db }: Database, limitMs = 240_000): Promise<void> {
  const open = sql`
    select 1 from billing.webhook_calls where state in ('pending', 'processing') limit 1`
  await until(async () => (await open.execute(db)).rows.length === 0, {
    what: 'all calls are finished',
    limitMs,
  })
}
