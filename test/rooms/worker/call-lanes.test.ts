import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { sql } from 'kysely'
import { until } from '../../support/until.ts'
import { onPostgres } from '../../support/databases.ts'
import { paid } from '../../support/statements.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import {
  startCallLanes,
  type CallLanes,
  type CallLanesOptions,
} from '../../../src/worker/call-lanes.ts'
import {
  call,
  callRow,
  fault,
  lineOf,
  logged,
  newcomer,
  payment,
  paying,
  shortTimers,
  statements,
  statusOf,
  useRoom,
} from '../processing/room.ts'

onPostgres(() => {
  const room = useRoom()
  const started: CallLanes[] = []
  afterEach(async () => {
    for (const lanes of started.splice(0)) await lanes.stop(1_000)
  })

  const start = (options: Partial<CallLanesOptions> = {}): CallLanes => {
    const lanes = startCallLanes({ processing: room.processing, lanes: 2, ...options })
    started.push(lanes)
    return lanes
  }

  /** A stored callback that nobody has taken. */
  const waiting = async (...[statements, fields]: Waiting) => {
    const { id } = await call(room, statements, fields)
    await sql`update billing.webhook_calls
      set state = 'pending', lease_token = null, lease_until = null
      where id = ${id}::uuid`.execute(room.db)
    return { id }
  }
  type Waiting = [statements: Parameters<typeof call>[1], fields?: Parameters<typeof call>[2]]

  const stateOf = async (known: { readonly id: string }) => (await callRow(room, known)).state
  const ended = (known: { readonly id: string }, state = 'processed') =>
    until(async () => (await stateOf(known)) === state, { what: `${known.id} is ${state}` })

  test('calls are taken from the queues that are named, and of the gateways that are known', async () => {
    const order = await payment(room)
    const others = [
      await waiting([paid(order)], { queue: 'other' }),
      await waiting([paid(order)], { gateway: 'of a newer version' }),
    ]
    const ours = await waiting([paid(order)])
    const lanes = start({ queues: ['default'] })
    await ended(ours)
    for (const one of others) assert.equal(await stateOf(one), 'pending')
    const wants = (gateway: string, queue: string) => lanes.wants({ gateway, queue })
    assert.equal(wants('stating', 'default'), true)
    assert.equal(wants('stating', 'other'), false)
    assert.equal(wants('of a newer version', 'default'), false)
    const all = start()
    assert.equal(all.wants({ gateway: 'stating', queue: 'other' }), true)
    await ended({ id: others[0]?.id ?? '' })
  })

  test('where another process has a listener that this one lacks, nothing is taken', async () => {
    await newcomer(room, 'PaymentSucceeded')
    const one = await waiting([paid(await payment(room))])
    const lanes = start()
    await until(() => lanes.room() > 0, { what: 'it has looked' })
    assert.equal(await stateOf(one), 'pending')
  })

  test('a call that is handed over is processed, without being looked for', async () => {
    const { order, leased } = await paying(room)
    const lanes = start()
    await until(() => lanes.room() > 0, { what: 'there is room' })
    void lanes.give([leased])
    await ended(leased)
    assert.equal(await statusOf(room, order), 'paid')
  })

  test('a call that cannot be interpreted fails', async () => {
    room.interpret = () => Promise.reject(new Error('a field is missing'))
    const bad = await waiting([], { gateway: 'asking' })
    start()
    await until(async () => (await callRow(room, bad)).attempts === 1, { what: 'it has failed' })
  })

  test('a call that cost a worker its life is looked for every five seconds', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const killer = await waiting([paid(await payment(room))], { leases_lost: 1 })
    const lanes = start()
    await until(() => lanes.room() > 0, { what: 'it has looked' })
    assert.equal(await stateOf(killer), 'pending')
    const hasEnded = async () => (await stateOf(killer)) === 'processed'
    const passSecond = () => {
      t.mock.timers.tick(1_000)
      return hasEnded()
    }
    await until(passSecond, { what: 'it is processed' })
  })

  test('what fails again and again on the way back is logged, and its lease is left to run out', async (t) => {
    room.give({ random: () => -1 })
    const heard = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    room.on('PaymentSucceeded', () => {
      heard.resolve()
      return held.promise
    })
    const order = await payment(room)
    const [first, second] = [await call(room, [paid(order)]), await call(room, [paid(order)])]
    const lanes = start()
    await until(() => lanes.room() > 1, { what: 'there is room' })
    shortTimers(t, 500)
    void lanes.give([first])
    await heard.promise
    await fault(room, { table: 'webhook_calls', on: 'update', sqlState: '58000', times: 5 })
    void lanes.give([second])
    await until(() => room.lines.some(({ call: id }) => id === second.id), { what: 'it is logged' })
    assert.partialDeepStrictEqual(lineOf(room, 'lease left to run out'), { call: second.id })
    assert.equal(await stateOf(second), 'processing')
    held.resolve()
    await ended(first)
  })

  test('a gateway whose provider is slow holds up no other, and is asked by as many as there are lanes', async (t) => {
    shortTimers(t, 1_000)
    const answered = Promise.withResolvers<never[]>()
    let asked = 0
    room.interpret = () => {
      asked += 1
      return answered.promise
    }
    const slow: { readonly id: string }[] = []
    for (let count = 0; count < 10; count += 1) slow.push(await waiting([], { gateway: 'asking' }))
    const lanes = start()
    // Two are under way, two are leased ahead when it shows that they are slow, and then two.
    await until(() => asked === 6, { what: 'six are asked about' })
    const order = await payment(room)
    const quick = await waiting([paid(order)])
    lanes.wake()
    await ended(quick)
    assert.equal(lanes.wants({ gateway: 'asking', queue: 'default' }), false)
    assert.equal(lanes.wants({ gateway: 'stating', queue: 'default' }), true)
    assert.equal(asked, 6)
    const { leased } = await paying(room)
    void lanes.give([leased])
    await ended(leased)
    answered.resolve([])
    for (const one of slow) await ended(one, 'ignored')
  })

  test('a gateway is not slow where it failed at once and only the record took long', async (t) => {
    shortTimers(t, 1_000)
    await sql`create function linger() returns trigger language plpgsql as
      $$ begin perform pg_sleep(0.2); return new; end $$`.execute(room.db)
    await sql`create trigger linger before update of attempts on billing.webhook_calls
      for each row execute function linger()`.execute(room.db)
    t.after(() => sql`drop function linger cascade`.execute(room.db))
    room.interpret = () => Promise.reject(new Error('a field is missing'))
    const failing = await waiting([], { gateway: 'asking' })
    const lanes = start()
    const attempts = async () => (await callRow(room, failing)).attempts
    await until(async () => (await attempts()) === 1, { what: 'the failure is recorded' })
    assert.equal(lanes.wants({ gateway: 'asking', queue: 'default' }), true)
  })

  test('while no gateway is slow, one look is enough, and begins nothing', async (t) => {
    const lanes = start()
    await until(() => lanes.room() === 2, { what: 'it has looked' })
    const sent = statements(t)
    lanes.wake()
    await until(() => lanes.room() === 2, { what: 'it has looked again' })
    assert.equal(sent.filter((text) => / state = 'processing'\s+from taken/.test(text)).length, 1)
    assert.deepEqual(logged(room), [])
  })

  test('lanes that stop leave nothing leased', async () => {
    const answered = Promise.withResolvers<never[]>()
    let asked = 0
    room.interpret = () => {
      asked += 1
      return answered.promise
    }
    const calls = [newUuid(), newUuid(), newUuid()]
    for (const id of calls) await waiting([], { id, gateway: 'asking' })
    const lanes = start()
    await until(() => asked === 2, { what: 'two are under way' })
    await lanes.stop(50)
    for (const id of calls) assert.equal(await stateOf({ id }), 'pending')
    answered.resolve([])
  })
})
