import pg from 'pg'
import { createCore } from '../src/billing/create-core.ts'
import type { BillingCore } from '../src/billing/types.ts'
import { operatorConsole } from '../src/console/index.ts'
import { idMadeAt } from '../test/support/id-made-at.ts'
import { createRounds, type Figure } from './rounds.ts'
import type { BenchOptions } from './service.ts'

const host = 'console.example.test'
const looks = 12

/** How long the server takes for each page of the console, beside very many rows. */
export async function benchConsole(options: BenchOptions): Promise<readonly Figure[]> {
  const { server, settings, progress } = options
  const url = await server.create()
  await using core = createCore({ database: { url } })
  await core.migrate()
  progress(`console: ${settings.console.toLocaleString('en')} calls`)
  const { payment, call } = await fill(url, settings.console)
  const lookAt = lookingOver(core)
  await using reads = await watchReads(url)
  const rounds = createRounds()
  for (const page of pathsOf({ payment, call })) {
    const rows = await reads.during(async () => {
      // What its connections read is known once they are closed.
      await using another = createCore({ database: { url } })
      await lookingOver(another)(page)
    })
    for (let look = 0; look < looks; look += 1) {
      const { ms, kB } = await lookAt(page)
      // Of the first two, code and plans are made.
      if (look >= 2) rounds.add(page === '' ? '/' : page, { ms, kB, rows })
    }
  }
  return rounds.figures()
}

function lookingOver(core: BillingCore) {
  const pages = operatorConsole(core, {
    path: '/console',
    hosts: [host],
    authenticate: () => ({ name: 'bench', role: 'operator' }),
  })
  return async (page: string) => {
    const begun = performance.now()
    const request = new Request(`https://${host}/console${page}`, { headers: { host } })
    const answer = await pages.fetch(request)
    const kB = (await answer.text()).length / 1_000
    if (answer.status !== 200) throw new Error(`${page} was answered ${answer.status}`)
    return { ms: performance.now() - begun, kB }
  }
}

/** So many rows are no page of anybody's. */
const bigFrom = 10_000

interface Reads {
  /** Of all tables together. Throws if a big one is read from one end to the other. */
  during(work: () => Promise<void>): Promise<number>
  [Symbol.asyncDispose](): Promise<void>
}

/** Counts the rows that are read, in tables and in indexes. */
async function watchReads(connectionString: string): Promise<Reads> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const readSoFar = async () => {
    const { rows } = await client.query<{ name: string; scanned: number; found: number }>(
      `select relname as name, seq_tup_read::int as scanned, coalesce((select sum(idx_tup_read)
         from pg_stat_user_indexes as one where one.relid = whole.relid), 0)::int as found
       from pg_stat_user_tables as whole where schemaname = 'billing'`,
    )
    return new Map(rows.map((row) => [row.name, row]))
  }
  return {
    async during(work) {
      const before = await readSoFar()
      await work()
      let sum = 0
      for (const [name, { scanned, found }] of await readSoFar()) {
        const past = before.get(name)
        const here = scanned - (past?.scanned ?? 0)
        if (here >= bigFrom) throw new Error(`${name} is scanned: ${here} rows`)
        sum += here + found - (past?.found ?? 0)
      }
      return sum
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

function pathsOf({ payment, call }: Filled): readonly string[] {
  return [
    '',
    '?span=1h',
    '?span=30d',
    '/payments',
    '/payments?status=failed',
    '/payments?gateway=paddle',
    '/payments?stuck=poll_overdue',
    `/payments/${payment}`,
    '/calls',
    '/calls?gateway=paddle',
    '/calls?state=failed',
    `/calls/${call}`,
    '/refused',
    '/reviews',
    '/failed',
    '/runs',
    '/gateways',
    '/gateways/stripe',
    '/totals',
    '/events',
    '/subscriptions',
    '/invoices',
    '/endpoints',
    '/audit',
    '/settings',
    `/search?q=pi_${payment}`,
    '/search?q=1999 yesterday',
    '/search/calls?text=nowhere',
  ].map((path) => path.replaceAll(' ', '+'))
}

interface Filled {
  readonly payment: string
  readonly call: string
}

/** Two calls a payment, over thirty days; one in five hundred calls has failed. */
async function fill(connectionString: string, calls: number): Promise<Filled> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  const at = `now() - interval '30 days' * ($1 - n) / $1`
  const statements = [
    `create temporary table done as select n, ${idMadeAt(at)} as payment, ${idMadeAt(at)} as call,
       ${idMadeAt(at)} as other, ${idMadeAt(at)} as move, ${idMadeAt(at)} as event, ${at} as at
     from generate_series(1, $1::int) as n`,
    `insert into billing.payments (id, gateway, live, status, amount, currency, payable_type,
       payable_id, provider_reference, created_at, updated_at)
     select payment, 'stripe', true, 'paid', 199900, 'UAH', 'order', n, 'pi_' || payment, at, at
     from done`,
    `insert into billing.payment_transitions (id, payment_id, from_status, to_status, cause,
       webhook_call_id, at)
     select move, payment, 'pending', 'paid', 'call', call, at from done`,
    `insert into billing.events (id, dedup_key, type, payment_id, webhook_call_id, source, created_at)
     select event, 'paid:' || payment, 'PaymentSucceeded', payment, call, 'call', at from done`,
    `insert into billing.totaled_days select current_date - n, now() from generate_series(0, 30) as n`,
    `insert into billing.day_totals
     select day, 'stripe', 'account ' || n, 'live', 'UAH', 9, 9, 0, 0, 0, 0, 0, 0, 0
     from billing.totaled_days, generate_series(1, 20) as n`,
    ...['call', 'other'].map(
      (id) => `insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload,
       state, exception, next_attempt_at, outcome, payment_id, received_at, processed_at)
     select ${id}, 'stripe', 'default', 'http://127.0.0.1/billing/webhooks/stripe', '{}', 'json',
       json_build_object('id', ${id}, 'data', repeat('x', 500)),
       case when n % 500 = 0 then 'failed' else 'processed' end,
       case when n % 500 = 0 then 'in listener mail: Error: no mail' end, at,
       '[{"result":"applied","type":"payment:paid"}]', payment, at, at from done`,
    ),
  ]
  for (const statement of statements) {
    await client.query(statement, statement.includes('$1') ? [Math.ceil(calls / 2)] : [])
  }
  await client.query('analyze')
  const { rows } = await client.query<Filled>(
    'select payment, call from done order by n desc limit 1',
  )
  await client.end()
  const [last] = rows
  if (last === undefined) throw new Error('nothing was written')
  return last
}
