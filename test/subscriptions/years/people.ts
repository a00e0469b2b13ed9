import { sql } from 'kysely'
import { days } from '../../../src/kernel/duration.ts'
import { isQuittanceError } from '../../../src/kernel/errors.ts'
import { namedUuid } from '../../../src/kernel/named-uuid.ts'
import type { BillingCore } from '../../../src/billing/types.ts'
import { diceOf, type Dice } from './dice.ts'
import type { Play } from './open-play.ts'

/** A new card; its id and all others are the same for the same seed. */
export async function addCard({ database, clock, dice }: Play): Promise<string> {
  const id = namedUuid(clock.now(), `card ${dice.roll()}`)
  await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
    values (${id}::uuid, 'scripted', 'attached', ${`pm_${id}`})`.execute(database.db)
  return id
}

/** Somebody subscribes, in one of the ways in which one can. */
export async function subscribe(play: Play, number: number): Promise<void> {
  const { clock, subscriptions, dice } = play
  const id = namedUuid(clock.now(), `history ${play.seed}/${number}`)
  const begin = dice.pick(['now', 'now', 'now', 'trial', 'brought'])
  const later = (most: number) => new Date(clock.now().getTime() + days(1 + dice.below(most)))
  const card = dice.chance(0.85) ? await addCard(play) : undefined
  subscriptions.push(id)
  await attempt(play, 'create', (core) =>
    core.subscriptions.create({
      id,
      gateway: 'scripted',
      payable: { type: 'account', id: `${number}` },
      amount: dice.chance(0.05) ? 0 : 4_999,
      currency: 'USD',
      every: dice.pick(['month', 'month', 'month', '3 months', '2 weeks', 'year', '10 days']),
      timeZone: dice.pick(['UTC', 'Europe/Kyiv', 'America/New_York', 'Australia/Lord_Howe']),
      graceAccess: dice.chance(0.6),
      ...(card !== undefined && { paymentMethodId: card }),
      ...(begin === 'trial' && { trialEndsAt: later(30) }),
      ...(begin === 'brought' && { paidUntil: later(40) }),
    }),
  )
}

type Wish = (core: BillingCore, id: string, dice: Dice) => Promise<unknown>

const wishes: readonly [readonly [string, Wish], ...(readonly [string, Wish])[]] = [
  ['cancel', (core, id) => core.subscriptions.cancel(id)],
  [
    'cancel now',
    (core, id, dice) =>
      dice.chance(0.3)
        ? core.subscriptions.cancel(id, { at: 'now' })
        : core.subscriptions.resume(id),
  ],
  [
    'pause',
    async (core, id, dice) => {
      const found = await core.subscriptions.get(id)
      const paidUntil = found?.paidUntil ?? null
      const until = new Date((paidUntil?.getTime() ?? 0) + days(dice.roll() * 60))
      const isTimed = paidUntil !== null && dice.chance(0.6)
      const at = dice.pick(['now', 'period_end'] as const)
      return core.subscriptions.pause(id, { at, ...(isTimed && { until }) })
    },
  ],
  ['resume', (core, id) => core.subscriptions.resume(id)],
  ['resume', (core, id) => core.subscriptions.resume(id)],
  ['pay', (core, id) => core.subscriptions.pay(id)],
  [
    'change',
    (core, id, dice) =>
      core.subscriptions.change(id, {
        amount: dice.pick([4_999, 9_900, 0]),
        every: dice.pick(['month', '2 months']),
      }),
  ],
]

/** Somebody wishes something of a subscription. */
export async function wish(play: Play): Promise<void> {
  const { dice, subscriptions, database } = play
  const [first] = subscriptions
  if (first === undefined) return
  const id = dice.pick([first, ...subscriptions])
  // Dice of its own: what runs at the same time does not change what is wished.
  const own = diceOf(dice.below(2 ** 31))
  if (own.chance(0.35)) {
    const card = await addCard(play)
    await attempt(play, 'new card', (core) =>
      core.subscriptions.change(id, { paymentMethodId: card }),
    )
  } else if (own.chance(0.1)) {
    count(play, 'card removed')
    await sql`update billing.payment_methods set status = 'detached' where id =
      (select payment_method_id from billing.subscriptions where id = ${id}::uuid)`.execute(
      database.db,
    )
  } else {
    const [name, wanted] = own.pick(wishes)
    await attempt(play, name, (core) => wanted(core, id, own))
  }
}

/** A refusal with a code of ours is an answer, and so is a database that is cut off. */
export async function attempt(
  play: Play,
  what: string,
  act: (core: BillingCore) => Promise<unknown>,
): Promise<void> {
  const { core } = play.dice.pick(play.members)
  try {
    await act(core)
    count(play, what)
  } catch (error) {
    if (isQuittanceError(error)) return count(play, `${what}: ${error.code}`)
    if (!isCut(error)) throw error
    count(play, `${what}: cut`)
  }
}

export function isCut(error: unknown): boolean {
  return /terminated|ECONNRESET|Connection|connection|timeout/.test(String(error))
}

export function count({ tally }: Pick<Play, 'tally'>, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1)
}
