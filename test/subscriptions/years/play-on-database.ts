import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { days, hours, minutes } from '../../../src/kernel/duration.ts'
import { closeForgottenPages } from '../../../src/money/close-page.ts'
import { reconcile } from '../../../src/upkeep/reconcile.ts'
import { runDueSubscriptions } from '../../../src/upkeep/run-subscriptions.ts'
import type { TestEngine } from '../../support/databases.ts'
import { statedCall } from '../../support/stating-gateway.ts'
import { checkEnd, checkRows } from './check-database.ts'
import { dump, restore } from './dump-play.ts'
import { openPlay, type Member, type Play } from './open-play.ts'
import { addCard, attempt, count, isCut, subscribe, wish } from './people.ts'

export interface PlayOptions {
  readonly seed: number
  readonly histories: number
  readonly years: number
  /** The database is restored from a dump so often. */
  readonly restores: number
}

/**
 * Plays some years of many subscriptions on a real database, by several processes of ours at once;
 * throws where something does not hold. Returns how often what has happened.
 */
export async function playOnDatabase(
  engine: TestEngine,
  options: PlayOptions,
): Promise<ReadonlyMap<string, number>> {
  const { play, close } = await openPlay(engine, options.seed)
  try {
    await live(play, options)
    await calmDown(play)
    await checkEnd(play)
    return new Map([...play.tally, ...play.till.tally])
  } catch (cause) {
    throw new Error(`seed ${options.seed}: ${(cause as Error).message}`, { cause })
  } finally {
    await close()
  }
}

/** What happens in the life of all, at a time. */
interface Fate {
  readonly at: number
  readonly act: () => Promise<void>
  /** Nothing else happens meanwhile. */
  readonly isAlone?: true
}

async function live(play: Play, options: PlayOptions): Promise<void> {
  const { dice, clock } = play
  const begin = clock.now().getTime()
  const end = begin + days(365 * options.years)
  const fates: Fate[] = []
  const happen = (times: number, act: () => Promise<void>, until = end) => {
    for (let time = 0; time < times; time += 1) {
      fates.push({ at: begin + dice.roll() * (until - begin), act })
    }
  }
  for (let number = 0; number < options.histories; number += 1) {
    // Each lives for a year at least.
    happen(1, () => subscribe(play, number), end - days(360))
  }
  happen(options.histories * 4 * options.years, () => wish(play))
  for (let time = 0; time < 2 * options.years; time += 1) {
    const at = begin + dice.roll() * (end - begin)
    const until = at + days(dice.roll() * 3)
    fates.push({
      at,
      act: () => attempt(play, 'hold', (core) => core.subscriptions.hold('a look')),
    })
    fates.push({
      at: until,
      act: () => attempt(play, 'release', (core) => core.subscriptions.release()),
    })
  }
  for (let time = 0; time < options.restores; time += 1) {
    const at = begin + dice.roll() * (end - begin)
    fates.push({ at, isAlone: true, act: () => dump(play) })
    fates.push({ at: at + days(dice.roll() * 10), isAlone: true, act: () => restore(play) })
  }
  await run(play, end, fates)
}

/** Time passes until then: from one thing that is due to the next, a little late. */
async function run(play: Play, end: number, fates: Fate[] = []): Promise<void> {
  const { clock } = play
  let hops = 0
  while (clock.now().getTime() < end) {
    await clock.set(new Date(Math.min(end, await nextTime(play, fates))))
    const time = clock.now().getTime()
    const due = fates.filter(({ at }) => at <= time)
    for (const one of due) fates.splice(fates.indexOf(one), 1)
    for (const { act } of due.filter(({ isAlone }) => isAlone)) await act()
    await Promise.all([...due.map(({ isAlone, act }) => (isAlone ? undefined : act())), work(play)])
    hops += 1
    if (hops % 50 === 0) await checkRows(play)
  }
  count(play, `hops ${hops}`)
}

async function nextTime(play: Play, fates: readonly Fate[]): Promise<number> {
  const { database, clock, dice, till, isCalm } = play
  const time = clock.now().getTime()
  const { rows } = await sql<{ next: Date | null }>`
    select least((select min(next_action_at) from billing.subscriptions),
      (select min(next_poll_at) from billing.payments where status <> 'paid'),
      (select min(next_attempt_at) from billing.deferred_events where state = 'pending'),
      (select min(next_attempt_at) from billing.webhook_calls where state = 'pending')) as next`.execute(
    database.db,
  )
  const dues = [rows[0]?.next?.getTime() ?? Infinity, ...fates.map(({ at }) => at)]
  const next = Math.min(till.nextCallback(), ...dues)
  const late = isCalm ? hours(6) : dice.pick([minutes(1), hours(6), hours(12), days(1)])
  // Sometimes nobody works for days.
  const down = !isCalm && dice.chance(0.002) ? days(dice.roll() * 40) : 0
  return Math.max(next, time) + minutes(1) + dice.roll() * late + down
}

/** All processes do what is due at this time, at once; some connections are cut meanwhile. */
async function work(play: Play): Promise<void> {
  const { members, dice, proxy, isCalm } = play
  const isCutOff = !isCalm && proxy !== undefined && dice.chance(0.1)
  const armed = isCutOff
    ? dice.chance(0.5)
      ? proxy.next(/^commit/i, dice.pick(['cut_before', 'cut_answer']))
      : proxy.next(1 + dice.below(20), dice.pick(['cut_before', 'cut_answer']))
    : undefined
  void armed?.struck.then(
    () => count(play, 'cut'),
    () => {},
  )
  await Promise.all([callBack(play), ...members.map((member) => workOf(play, member))])
  armed?.release()
  await settle(play)
}

async function workOf(play: Play, { context }: Member): Promise<void> {
  try {
    await runDueSubscriptions(context, { lanes: 4 })
    await reconcile(context)
    await closeForgottenPages(context)
  } catch (error) {
    if (!isCut(error)) throw error
    count(play, 'work: cut')
  }
}

/** The provider calls back until it is answered. */
async function callBack({ till, members, dice, tally }: Play): Promise<void> {
  for (const { statements, act } of till.takeCallbacks()) {
    act?.()
    if (statements.length === 0) continue
    const call = statedCall(statements, 'scripted')
    const { core } = dice.pick(members)
    const answer = await core.receive(call).catch(() => undefined)
    if (answer?.status === 200) continue
    count({ tally }, 'callback: sent again')
    await members[0].core.receive(call)
  }
}

/** Until nothing waits for workers at this time. */
async function settle(play: Play): Promise<void> {
  const { database, clock, members } = play
  const began = performance.now()
  for (;;) {
    for (const { context } of members) context.processing.wake()
    const { rows } = await sql<{ count: number }>`
      select (select count(*) from billing.webhook_calls where state = 'processing' or
          (state = 'pending' and next_attempt_at <= ${clock.now()}))::int
        + (select count(*) from billing.deferred_events where state = 'processing' or
          (state = 'pending' and next_attempt_at <= ${clock.now()}))::int
        as count`.execute(database.db)
    if (rows[0]?.count === 0) return
    const waited = performance.now() - began
    // What a process held that was cut off is free only when its lease is over.
    if (waited > 3_000) return count(play, 'left for later')
    await pause(waited > 100 ? 20 : 2)
  }
}

/** An event whose listener failed on the last day, or that was left for later, has its turn. */
async function dispatchRest(play: Play): Promise<void> {
  const { database, clock } = play
  for (let hops = 0; hops < 20; hops += 1) {
    const { rows } = await sql<{ next: Date | null }>`
      select min(next_attempt_at) as next from billing.deferred_events
      where state <> 'processed'`.execute(database.db)
    const next = rows[0]?.next
    if (!next) return
    await run(play, Math.max(next.getTime(), clock.now().getTime()) + minutes(1))
  }
}

/** Everything works again: it must end well. */
async function calmDown(play: Play): Promise<void> {
  const { clock, till, subscriptions } = play
  play.isCalm = true
  till.calmDown()
  await attempt(play, 'release', (core) => core.subscriptions.release())
  await run(play, clock.now().getTime() + days(30))
  for (const id of subscriptions) {
    const card = await addCard(play)
    await attempt(play, 'calm card', (core) =>
      core.subscriptions.change(id, { paymentMethodId: card }),
    )
  }
  await run(play, clock.now().getTime() + days(60))
  await dispatchRest(play)
  assert.equal(till.nextCallback(), Infinity, 'nothing is under way any more')
}
