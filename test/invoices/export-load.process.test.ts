import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { idle, newPayment, openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'
import { startProcess } from '../support/process.ts'
import { openStated } from '../support/stated-billing.ts'
import { until } from '../support/until.ts'
import { putLoad, type Load } from './load-program.ts'
import { exportedLines, issuing, upTo } from './sellers.ts'

const file = fileURLToPath(new URL('load-program.ts', import.meta.url))

const allSeries = ['A', 'B'] as const
/** Of each series, and of the provider's: more than are read at a time. */
const alreadyThere = 600

/**
 * Documents of this month, the provider's all of the same moment. The first of each series are of the
 * month before.
 */
async function addDocuments({ database: { db } }: TestBilling, month: string): Promise<void> {
  const begin = sql`${`${month}-01T00:00:00Z`}::timestamptz`
  await sql`insert into billing.invoices (id, issuer, status, series, number, number_text,
      payable_type, payable_id, gateway, currency, total, lines, seller, time_zone, issued_at)
    select gen_random_uuid(), 'us', 'issued', series, n, series || '-' || n, 'order', '1', 'stating',
      'USD', 100, '[]', '{"name":"x"}', 'UTC',
      case when n <= 20 then ${begin} - interval '1 millisecond'
        else ${begin} + n * interval '1 ms' end
    from unnest(${[...allSeries]}::text[]) as series, generate_series(1, ${alreadyThere}::int) as n`.execute(
    db,
  )
  await sql`insert into billing.invoice_series (series, last, issued_at)
    select series, ${alreadyThere}, ${begin} from unnest(${[...allSeries]}::text[]) as series`.execute(
    db,
  )
  await sql`insert into billing.invoices (id, issuer, status, provider_reference, paid_at,
      payable_type, payable_id, gateway, currency, total, lines, time_zone, issued_at)
    select gen_random_uuid(), 'provider', 'paid', 'early_' || n, now(), 'order', '1', 'stating',
      'USD', 100, '[]', 'UTC', case when n <= 3 then ${begin} - interval '1 millisecond'
        when n <= 6 then ${begin} + interval '1 month' else ${begin} end
    from generate_series(1, ${alreadyThere}::int) as n`.execute(db)
}

interface Progress {
  readonly name: string
  /** Null: the provider's. */
  readonly series: string | null
  readonly written: number
  readonly paid: number
  readonly voided: number
}

/** What the load has written so far, and what has become of it. */
async function progressOf({ database: { db } }: TestBilling): Promise<readonly Progress[]> {
  const { rows } = await sql<Progress>`select payable_id as name, series, count(*)::int as written,
      count(*) filter (where status = 'paid')::int as paid,
      count(*) filter (where status = 'void')::int as voided
    from billing.invoices where payable_type = 'load' group by payable_id, series`.execute(db)
  return rows
}

/** Since then everybody has written in every series, of the provider's, too; some paid, some void. */
async function allGoOn(billing: TestBilling, names: readonly string[], what: string) {
  const before = await progressOf(billing)
  const of = (all: readonly Progress[], name: string, series: string | null) =>
    all.find((one) => one.name === name && one.series === series)
  const hasGrown = (now: readonly Progress[], name: string, series: string | null) => {
    const then = of(before, name, series) ?? { written: 0, paid: 0, voided: 0 }
    const { written, paid, voided } = of(now, name, series) ?? then
    const isMore = written > then.written && paid > then.paid
    return isMore && (series === null || voided > then.voided)
  }
  await until(
    async () => {
      const now = await progressOf(billing)
      return names.every((name) =>
        [...allSeries, null].every((series) => hasGrown(now, name, series)),
      )
    },
    { what },
  )
}

interface Exported {
  readonly id: string
  readonly issuer: 'us' | 'provider'
  readonly series: string | null
  readonly number: string | null
  readonly issued_at: string
}

/** As they are numbered by now; of this month alone where one is given. */
async function numbersOf({ database: { db } }: TestBilling, series: string, month?: string) {
  const { rows } = await sql<{ number: number; number_text: string }>`
    select number::int, number_text from billing.invoices where series = ${series}
      and (${month ?? null}::text is null
        or to_char(issued_at at time zone 'UTC', 'YYYY-MM') = ${month ?? null})
    order by number`.execute(db)
  return rows
}

/** Where processes can share the database, two of them; else this one. */
function startLoads(billing: TestBilling): {
  readonly names: readonly string[]
  stop(): Promise<void>
} {
  const { url } = billing
  if (url === undefined) {
    const { dataDir } = billing.runtime.settings.database
    const load = { database: { dataDir, attach: true }, name: 'own', series: allSeries }
    let isOver = false
    const ended = putLoad(load, () => isOver)
    const stop = () => {
      isOver = true
      return ended
    }
    return { names: ['own'], stop }
  }
  const names = ['first', 'second']
  const processes = names.map((name) => {
    const load: Load = { database: { url }, name, series: allSeries }
    return startProcess([], { file, env: { LOAD: JSON.stringify(load) } })
  })
  const stop = async () => {
    for (const { code, stdout, stderr } of await Promise.all(processes.map((one) => one.stop()))) {
      assert.deepEqual([code, stdout], [0, ['done']], stderr.join('\n'))
    }
  }
  return { names, stop }
}

onAnyDatabase((engine) => {
  test('a month is exported whole and once while others issue, pay and void in two series', async () => {
    const month = new Date().toISOString().slice(0, 7)
    await using billing = await openStated(engine, { invoices: issuing })
    await addDocuments(billing, month)
    const loads = startLoads(billing)
    await allGoOn(billing, loads.names, 'all have begun')
    const { rows: before } = await sql<{ id: string }>`select id from billing.invoices
      where to_char(issued_at at time zone 'UTC', 'YYYY-MM') = ${month}`.execute(
      billing.database.db,
    )

    const reading = billing.core.invoices.export({ month, format: 'jsonl' })[Symbol.asyncIterator]()
    const first = await reading.next()
    await allGoOn(billing, loads.names, 'all have gone on behind the first line of the export')
    const lines = [first.value as string]
    for (let one = await reading.next(); one.done !== true; one = await reading.next()) {
      lines.push(one.value)
    }
    await loads.stop()
    await idle(billing.core)

    const found = lines.map((line) => JSON.parse(line) as Exported)
    const ids = new Set(found.map(({ id }) => id))
    assert.equal(ids.size, found.length, 'nothing comes twice')
    assert.deepEqual(
      before.filter(({ id }) => !ids.has(id)),
      [],
      'nothing is missing',
    )
    assert.deepEqual(
      found.filter(({ issued_at: at }) => !at.startsWith(month)),
      [],
    )
    for (const series of allSeries) {
      const numbers = found.flatMap((one) => (one.series === series ? [one.number] : []))
      const ofMonth = (await numbersOf(billing, series, month)).map((one) => one.number_text)
      assert.ok(numbers.length > alreadyThere - 20, 'some of the load are among them')
      assert.deepEqual(numbers, ofMonth.slice(0, numbers.length))
      const all = (await numbersOf(billing, series)).map(({ number }) => number)
      assert.deepEqual(
        all,
        Array.from(all, (_, at) => at + 1),
      )
    }
    const providers = found.flatMap(({ issuer, id }) => (issuer === 'provider' ? [id] : []))
    assert.ok(providers.length > alreadyThere - 6)
  })
})

onPostgres((engine) => {
  test('a number that is taken and not committed leaves no gap in what is exported meanwhile', async () => {
    await using billing = await openBilling(engine, { invoices: issuing })
    const { core, database, url } = billing
    const issue = async (id: string) =>
      core.invoices.issue(
        (await newPayment(core, { live: true, payable: { type: 'order', id } })).id,
      )
    await issue('early')
    // Whoever writes the document `held` waits in its transaction, with its number.
    await sql`create function hold() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock(42); return new; end $$`.execute(database.db)
    await sql`create trigger hold before insert on billing.invoices for each row
      when (new.payable_id = 'held') execute function hold()`.execute(database.db)
    const direct = new pg.Client({ connectionString: url })
    await direct.connect()
    await direct.query('select pg_advisory_lock(42)')
    const waiting = async () =>
      (
        await direct.query(`select from pg_stat_activity where datname = current_database()
          and cardinality(pg_blocking_pids(pid)) > 0`)
      ).rows.length
    const held = issue('held')
    await until(async () => (await waiting()) === 1, { what: 'it holds its number' })
    let isOvertaken = false
    const other = issue('other').then((invoice) => {
      isOvertaken = true
      return invoice
    })
    await until(async () => isOvertaken || (await waiting()) === 2, { what: 'another follows' })
    const numbers = (await exportedLines(core, 'jsonl')).map(
      (line) => (JSON.parse(line) as Exported).number,
    )
    await direct.end()
    const both = [(await held).number, (await other).number]
    assert.deepEqual(numbers, upTo(numbers.length))
    assert.deepEqual([...numbers, ...both], upTo(3))
  })
})
