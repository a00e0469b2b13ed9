import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { connect, type Database } from '../../src/database/connect.ts'
import { deleteOldSums, sumCounts } from '../../src/database/counts.ts'
import { hours, minutes, seconds } from '../../src/kernel/duration.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { startFlush } from '../../src/numbers/flush.ts'
import { createNumbers, type Numbers } from '../../src/numbers/slots.ts'
import { capturedLog } from '../support/captured-log.ts'
import { startCutProxy } from '../support/cut-proxy.ts'
import { onAnyDatabase, onPostgres, type TestDatabase } from '../support/databases.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { stored } from './counting.ts'

/** A process that counts, by a clock that is moved. */
function counting({ db }: Pick<Database, 'db'>, start: Date, log = silentLog) {
  const numbers = createNumbers()
  let now = start
  const flush = startFlush({
    numbers,
    db,
    process: newUuid(),
    clock: () => now,
    random: () => 1,
    log,
  })
  return {
    numbers,
    write: () => flush.now(),
    pass: (length: number) => {
      now = new Date(now.getTime() + length)
    },
    [Symbol.asyncDispose]: () => flush.stop(),
  }
}

function accept(numbers: Numbers, by = 1): void {
  numbers.add('callbacks_total', { gateway: 'stripe', answer: 'accepted' }, by)
}

/** The beginning of a quarter of an hour that is not long past. */
function quarterBefore(length: number): Date {
  const quarter = minutes(15)
  return new Date(Math.floor((Date.now() - length) / quarter) * quarter)
}

const clockOf = (time: Date) => time.toISOString().slice(11, 16)

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())
  beforeEach(async () => {
    await sql`delete from billing.counts`.execute(billing.database.db)
  })

  test('what was counted is written by minutes, as whole values', async () => {
    const { database } = billing
    await using one = counting(database, new Date('2026-11-26T10:00:10Z'))
    accept(one.numbers)
    one.numbers.add('events_total', { type: 'PaymentSucceeded', source: 'call' }, 2)
    await one.write()
    assert.deepEqual(await stored(database, 'minute'), {
      '10:00 callbacks_total stripe accepted': 1,
      '10:00 events_total PaymentSucceeded/call': 2,
    })
    accept(one.numbers, 4)
    await one.write()
    await one.write()
    one.pass(minutes(2))
    accept(one.numbers, 10)
    await one.write()
    // It was counted after the last look of the first minute, which is why it belongs to it.
    assert.deepEqual(await stored(database, 'minute'), {
      '10:00 callbacks_total stripe accepted': 15,
      '10:00 events_total PaymentSucceeded/call': 2,
    })
    accept(one.numbers)
    await one.write()
    const { '10:02 callbacks_total stripe accepted': present } = await stored(database, 'minute')
    assert.equal(present, 1)
  })

  test('a length of time has its buckets and its sum', async () => {
    const { database } = billing
    await using one = counting(database, new Date('2026-11-26T10:00:10Z'))
    one.numbers.histogram('callback_seconds', { gateway: 'fake' }).observe(0.25)
    one.numbers.histogram('flush_seconds', {}).observe(4000)
    await one.write()
    assert.deepEqual(await stored(database, 'minute'), {
      '10:00 callback_seconds fake 0.5': 1,
      '10:00 callback_seconds fake sum': 0.25,
      '10:00 flush_seconds +Inf': 1,
      '10:00 flush_seconds sum': 4000,
    })
  })

  test('processes are added up by quarters and hours; to do it again changes nothing', async () => {
    const { database } = billing
    const start = quarterBefore(hours(2))
    await using one = counting(database, start)
    await using two = counting(database, start)
    for (let minute = 0; minute < 40; minute += 1) {
      accept(one.numbers)
      accept(two.numbers, 2)
      // Each minute ends before the next is counted: there is a timer for it.
      for (const each of [one, two]) {
        each.pass(minutes(1))
        await each.write()
      }
    }
    await sumCounts(database.db, new Date())
    const quarter = (index: number) =>
      `${clockOf(new Date(start.getTime() + index * minutes(15)))} callbacks_total stripe accepted`
    const expected = { [quarter(0)]: 45, [quarter(1)]: 45, [quarter(2)]: 30 }
    assert.deepEqual(await stored(database, 'quarter'), expected)
    const hourly = await stored(database, 'hour')
    assert.equal(sumOf(hourly), 120)
    await sumCounts(database.db, new Date())
    assert.deepEqual(await stored(database, 'quarter'), expected)
    assert.deepEqual(await stored(database, 'hour'), hourly)
    // What comes late still counts.
    accept(two.numbers, 7)
    await two.write()
    await sumCounts(database.db, new Date())
    assert.equal(sumOf(await stored(database, 'quarter')), 127)
    assert.equal(sumOf(await stored(database, 'hour')), 127)
  })

  test('what was counted while nobody summed is summed before it is deleted', async () => {
    const { db } = billing.database
    const hoursAgo = [9, 6, 3.6, 2, 0.1]
    for (const ago of hoursAgo) {
      await sql`insert into billing.counts (span, at, metric, gateway, label, process, value)
        values ('minute', statement_timestamp() - make_interval(mins => ${ago * 60}::int),
          'events_total', '', '', 'one', 1000)`.execute(db)
    }
    await sumCounts(db, new Date(Date.now() - hours(10)))
    assert.equal(sumOf(await stored(billing.database, 'quarter')), 5_000)
    assert.equal(sumOf(await stored(billing.database, 'hour')), 5_000)
    assert.equal(sumOf(await stored(billing.database, 'minute')), 3_000)
  })

  test('a sum is never made of a part of its minutes, and what is old goes', async () => {
    const { database } = billing
    const { db } = database
    const insert = (span: string, ago: string) => sql`
      insert into billing.counts (span, at, metric, gateway, label, process, value)
      values (${span}, statement_timestamp() - ${ago}::interval, 'events_total', '', ${ago}, '', 1)`
    await insert('minute', '4 hours 1 minute').execute(db)
    await insert('minute', '3 hours 30 minutes').execute(db)
    await insert('quarter', '8 days 1 minute').execute(db)
    await insert('quarter', '7 days 23 hours').execute(db)
    await insert('hour', '400 days 1 minute').execute(db)
    await insert('hour', '399 days').execute(db)
    await sumCounts(db, new Date())
    await deleteOldSums(db)
    const { rows } = await sql<{ left: string }>`
      select span || ' ' || label as left from billing.counts order by 1`.execute(db)
    assert.deepEqual(
      rows.map((row) => row.left),
      ['hour 399 days', 'minute 3 hours 30 minutes', 'quarter 7 days 23 hours'],
    )
  })
})

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, value) => sum + value, 0)
}

onPostgres((engine) => {
  let created: TestDatabase
  before(async () => {
    created = await engine.create()
  })
  after(() => created.drop())

  const through = (url: string, log = silentLog) =>
    connect({ target: { kind: 'postgres', url }, log, poolSize: 2, applicationName: 'counting' })

  test('a write whose answer was lost is repeated, and counts once', async () => {
    const proxy = await startCutProxy(created.url ?? '')
    const database = through(proxy.url)
    const { log, lines } = capturedLog()
    const one = counting(database, new Date('2026-11-26T11:00:10Z'), log)
    accept(one.numbers, 3)
    const armed = proxy.next(/insert into billing\.counts/, 'cut_answer')
    await one.write()
    await armed.struck
    accept(one.numbers, 2)
    one.pass(minutes(1))
    await one.write()
    assert.deepEqual(await stored(database, 'minute'), {
      '11:00 callbacks_total stripe accepted': 5,
    })
    const said = lines.filter(({ msg }) => /counts could not be written/.test(String(msg)))
    assert.equal(said.length, 1)
    await one[Symbol.asyncDispose]()
    await sql`delete from billing.counts`.execute(database.db)
    await database.close()
    await proxy.close()
  })

  test('while the database is away 60 minutes are kept, and what is dropped is counted', async () => {
    const proxy = await startCutProxy(created.url ?? '')
    const database = through(proxy.url)
    const one = counting(database, new Date('2026-11-26T11:00:10Z'))
    await proxy.refuse()
    for (let minute = 0; minute < 65; minute += 1) {
      accept(one.numbers)
      one.pass(minutes(1))
      await one.write()
    }
    await proxy.accept()
    accept(one.numbers)
    one.pass(seconds(1))
    await one.write()
    const kept = Object.entries(await stored(database, 'minute'))
    const accepted = kept.filter(([name]) => name.includes('callbacks_total'))
    assert.equal(sumOf(Object.fromEntries(accepted)), 61)
    assert.equal(accepted[0]?.[0], '11:05 callbacks_total stripe accepted')
    const lost = kept.filter(([name]) => name.includes('counts_lost_total'))
    assert.equal(sumOf(Object.fromEntries(lost)), 5)
    await one[Symbol.asyncDispose]()
    await database.close()
    await proxy.close()
  })
})
