import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { days, hours } from '../kernel/duration.ts'
import { dueNotice, nextNoticeAt, type NoticeFacts } from './notices.ts'

const startsAt = new Date('2026-11-01T00:00:00Z')
const day = (count: number) => new Date(startsAt.getTime() + days(count))
const earlier = (time: Date) => new Date(time.getTime() - 1)

const facts = (fields: Partial<NoticeFacts> = {}): NoticeFacts => ({
  startsAt,
  end: day(30),
  leadDays: [7, 1, 3],
  timeZone: 'UTC',
  lastNotice: null,
  ...fields,
})
const dueOn = (count: number, fields: Partial<NoticeFacts> = {}) =>
  dueNotice(facts(fields), day(count))
const nextOn = (count: number, fields: Partial<NoticeFacts> = {}) =>
  nextNoticeAt(facts(fields), day(count))

test('case 6: a notice is due from its lead before the end, until the end', () => {
  assert.equal(dueNotice(facts(), earlier(day(23))), null)
  assert.equal(dueOn(23), 3)
  assert.equal(dueOn(27, { lastNotice: 3 }), 2)
  assert.equal(dueOn(29, { lastNotice: 2 }), 1)
  assert.equal(dueNotice(facts({ lastNotice: 2 }), earlier(day(30))), 1)
  assert.equal(dueOn(30, { lastNotice: 2 }), null)
  assert.equal(dueOn(31), null)
})

test('a lead is counted in days of the zone', () => {
  const end = new Date('2026-10-26T21:30:00Z')
  const before = { end, startsAt: new Date('2026-09-26T20:30:00Z'), leadDays: [3] }
  const at = nextNoticeAt(facts({ ...before, timeZone: 'Europe/Kyiv' }), before.startsAt)
  assert.deepEqual(at, new Date('2026-10-23T20:30:00Z'))
})

test('case 6: what has fired does not fire again', () => {
  assert.equal(dueOn(23, { lastNotice: 3 }), null)
  assert.equal(dueOn(29, { lastNotice: 1 }), null)
})

test('case 6: of several that are due the last one fires, and the others never do', () => {
  assert.equal(dueOn(28), 2)
  assert.equal(dueOn(29), 1)
  assert.equal(dueOn(29, { lastNotice: 1 }), null)
})

test('case 6: a lead must be shorter than the period', () => {
  const short = { end: day(3) }
  assert.equal(dueOn(0, short), null)
  assert.deepEqual(nextOn(0, short), day(2))
  assert.equal(dueNotice(facts({ end: new Date(day(3).getTime() + 1) }), earlier(day(0))), null)
  assert.equal(dueNotice(facts({ end: new Date(day(3).getTime() + 1) }), day(1)), 2)
  assert.equal(nextOn(0, { end: day(1) }), null)
})

test('case 6: leads may come in any order, and twice', () => {
  assert.equal(dueOn(23, { leadDays: [3, 7, 3, 1, 10, 7] }), 3)
  assert.equal(dueOn(20, { leadDays: [10, 9] }), 2)
  assert.equal(dueOn(29, { leadDays: [] }), null)
  assert.equal(nextOn(0, { leadDays: [] }), null)
})

test('case 6: the next notice is the one with the longest lead of those left', () => {
  assert.deepEqual(nextOn(0), day(23))
  assert.deepEqual(nextOn(23, { lastNotice: 3 }), day(27))
  assert.deepEqual(nextOn(0, { lastNotice: 2 }), day(29))
  assert.equal(nextOn(0, { lastNotice: 1 }), null)
})

test('case 6: one that is due is to fire at once, and none after the end', () => {
  assert.deepEqual(nextOn(23), day(23))
  assert.deepEqual(nextOn(24), day(24))
  assert.deepEqual(nextNoticeAt(facts({ lastNotice: 2 }), earlier(day(30))), earlier(day(30)))
  assert.equal(nextOn(30), null)
  assert.equal(nextOn(30, { end: day(30) }), null)
})

const leads = fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 4 })
interface Step {
  readonly hours: number
  /** Null: they stay. */
  readonly leadDays: readonly number[] | null
  /** The day that the end moves to; null: it stays. */
  readonly end: number | null
}
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    hours: fc.integer({ min: 1, max: 400 }),
    leadDays: fc.option(leads),
    end: fc.option(fc.integer({ min: 5, max: 60 })),
  }),
  { maxLength: 30 },
)

/** Lives through the steps as a worker would, late or not; tells what fired. */
function life(first: readonly number[], given: readonly Step[]) {
  let [now, leadDays, end] = [startsAt, first, day(30)]
  let lastNotice: number | null = null
  let moves = 0
  const fired: { readonly number: number; readonly moves: number }[] = []
  for (const step of given) {
    now = new Date(now.getTime() + hours(step.hours))
    leadDays = step.leadDays ?? leadDays
    const moved = step.end === null ? end : day(step.end)
    // A moved end starts anew.
    if (moved.getTime() !== end.getTime()) {
      lastNotice = null
      moves += 1
    }
    end = moved
    const number = dueNotice(facts({ leadDays, end, lastNotice }), now)
    const next = nextNoticeAt(facts({ leadDays, end, lastNotice }), now)
    assert.equal(number !== null, next?.getTime() === now.getTime())
    if (number === null) continue
    assert.ok(number >= 1 && number <= leadDays.length)
    fired.push({ number, moves })
    lastNotice = number
    assert.equal(dueNotice(facts({ leadDays, end, lastNotice }), now), null)
  }
  return fired
}

test('case 6: changing leads repeat nothing: the numbers of one end only fall', () => {
  fc.assert(
    fc.property(leads, steps, (first, given) => {
      const fired = life(first, given)
      fired.forEach(({ number, moves }, index) => {
        const before = fired[index - 1]
        if (before?.moves === moves) assert.ok(number < before.number)
      })
    }),
    { numRuns: 500 },
  )
})

test('case 6: a moved end starts anew: its notices come, whatever came of the old one', () => {
  const fired = life(
    [3],
    [
      { hours: 27 * 24, leadDays: null, end: null },
      { hours: 24, leadDays: null, end: 40 },
      { hours: 9 * 24, leadDays: null, end: null },
    ],
  )
  assert.deepEqual(fired, [
    { number: 1, moves: 0 },
    { number: 1, moves: 1 },
  ])
})

test('case 6: a worker that sleeps until the next notice sends each one at its time', () => {
  fc.assert(
    fc.property(leads, fc.integer({ min: 1, max: 60 }), (leadDays, end) => {
      const lived = { leadDays, end: day(end) }
      const sent: number[] = []
      let lastNotice: number | null = null
      let at = nextNoticeAt(facts(lived), startsAt)
      while (at !== null) {
        lastNotice = dueNotice(facts({ ...lived, lastNotice }), at)
        assert.ok(lastNotice !== null)
        sent.push((lived.end.getTime() - at.getTime()) / days(1))
        at = nextNoticeAt(facts({ ...lived, lastNotice }), at)
      }
      const expected = [...new Set(leadDays)].filter((lead) => lead < end)
      assert.deepEqual(
        sent,
        expected.toSorted((one, other) => other - one),
      )
    }),
    { numRuns: 500 },
  )
})
