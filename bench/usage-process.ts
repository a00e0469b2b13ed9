/**
 * A process that records usage through the library, or by an update for each record, as an app does
 * that counts in its own table.
 */
import pg from 'pg'
import { coreOf } from '../src/billing/create-core.ts'
import { createRuntime } from '../src/billing/runtime.ts'
import { newUuid } from '../src/kernel/ids.ts'

/** What the process is told to do. */
export interface UsageOrder {
  readonly url: string
  readonly subject: 'library' | 'plain'
  /** Of how many of those in the database. */
  readonly subscriptions: number
  readonly milliseconds: number
  /** Records that are under way at the same time. */
  readonly senders: number
}

/** What it has done. */
export interface UsageDone {
  readonly counted: number
  readonly perSecond: number
}

const order = JSON.parse(process.env['USAGE'] ?? '') as UsageOrder

interface Recorder {
  record(subscriptionId: string): Promise<void>
  close(): Promise<void>
}

function openLibrary({ url }: UsageOrder): Recorder {
  const core = coreOf(createRuntime({ database: { url } }))
  return {
    async record(subscriptionId) {
      const input = { subscriptionId, quota: 'api_calls', key: newUuid() }
      const { result } = await core.usage.record(input)
      if (result !== 'counted') throw new Error(`a record was not counted, but ${result}`)
    },
    close: () => core.close(),
  }
}

/** One statement a record, which is a transaction: what most people write first. */
function openPlain({ url }: UsageOrder): Recorder {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  return {
    async record(subscriptionId) {
      await pool.query({
        name: 'count',
        text: `update billing.usage_counters set used = used + 1
          where subscription_id = $1 and quota = 'api_calls'`,
        values: [subscriptionId],
      })
    },
    close: () => pool.end(),
  }
}

async function readIds({ url, subscriptions }: UsageOrder): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ id: string }>(
    'select subscription_id as id from billing.usage_counters order by subscription_id limit $1',
    [subscriptions],
  )
  await client.end()
  return rows.map(({ id }) => id)
}

async function keep({ counted, perSecond }: UsageDone, { url }: UsageOrder): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('insert into usage_done values ($1, $2)', [counted, perSecond])
  await client.end()
}

async function run(recorder: Recorder, milliseconds: number): Promise<UsageDone> {
  const { senders } = order
  let counted = 0
  const begun = performance.now()
  let next = 0
  const send = async () => {
    while (performance.now() - begun < milliseconds) {
      const id = ids[next % ids.length] ?? ''
      next += 1
      await recorder.record(id)
      counted += 1
    }
  }
  await Promise.all(Array.from({ length: senders }, send))
  const seconds = (performance.now() - begun) / 1000
  return { counted, perSecond: counted / seconds }
}

const recorder = order.subject === 'library' ? openLibrary(order) : openPlain(order)
const ids = await readIds(order)
process.stdout.write('{}\n')
// Connections are opened, and code is compiled.
const warm = await run(recorder, order.milliseconds / 4)
const done = await run(recorder, order.milliseconds)
await keep({ ...done, counted: done.counted + warm.counted }, order)
await recorder.close()
