import { globSync, readFileSync } from 'node:fs'
import { mutationsOf, type Found, type Mutation } from './generate.ts'

export interface Mutant extends Mutation {
  /** `room-3` */
  readonly name: string
}

const rooms = [
  'database',
  'http',
  'console',
  'billing',
  'upkeep',
  'checkout',
  'usage',
  'invoices',
  'money',
  'subscriptions',
  'outbound',
  'cli',
  'intake',
] as const

/** Generated, run in a browser, or run once for each database. */
const leftOut = /\.test\.ts$|config-file-options|\/browser\/|\/migrations\//

/** So many mutants of these rooms: the larger a room, the more, but no room has only few. */
export async function choose(count: number, seed: number): Promise<readonly Mutant[]> {
  const random = randomFrom(seed)
  const found = await Promise.all(
    rooms.map(async (room) => ({ room, mutations: await mutationsIn(room) })),
  )
  const weights = found.map(({ mutations }) => Math.sqrt(mutations.length))
  const shares = sharesOf(count, weights)
  return found.flatMap(({ room, mutations }, at) =>
    picked(mutations, shares[at] ?? 0, random).map(({ at: _at, ...mutation }, index) => ({
      name: `${room}-${index + 1}`,
      ...mutation,
    })),
  )
}

async function mutationsIn(room: string): Promise<readonly Found[]> {
  const files = globSync(`src/${room}/**/*.ts`).toSorted()
  const own = files.filter((file) => !leftOut.test(file))
  const found = await Promise.all(own.map((file) => mutationsOf(file, readFileSync(file, 'utf8'))))
  return found.flat()
}

/** Whole numbers with this sum, in these proportions: the largest remainders are rounded up. */
function sharesOf(count: number, weights: readonly number[]): readonly number[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  const exact = weights.map((weight) => (count * weight) / all)
  const missing = count - exact.reduce((sum, share) => sum + Math.floor(share), 0)
  const byRemainder = exact.map((share, at) => ({ at, rest: share - Math.floor(share) }))
  const up = byRemainder.toSorted((one, other) => other.rest - one.rest).slice(0, missing)
  const raised = new Set(up.map(({ at }) => at))
  return exact.map((share, at) => Math.floor(share) + (raised.has(at) ? 1 : 0))
}

/** What a statement says has four lots: there is more in one than in a line of code. */
function picked(all: readonly Found[], count: number, random: () => number): readonly Found[] {
  let lots = all.flatMap((one) => (one.kind === 'Sql' ? [one, one, one, one] : [one]))
  return Array.from({ length: Math.min(count, all.length) }, () => {
    const drawn = lots[Math.floor(random() * lots.length)] as Found
    lots = lots.filter((one) => one !== drawn)
    return drawn
  })
}

/** Mulberry32: the same numbers for the same seed, from 0 to below 1. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
