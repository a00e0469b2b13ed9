import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inShares } from './reconcile.ts'

const ids = (name: string, count: number) => Array.from({ length: count }, (_, n) => `${name}${n}`)
const countIn = (chosen: readonly string[], name: string) =>
  chosen.filter((id) => id.startsWith(name)).length

test('what is unanswered comes first, and nobody waits for the others', () => {
  const due = {
    unanswered: ids('refund', 40),
    youngest: ids('young', 40),
    longestDue: ids('old', 40),
  }
  const chosen = inShares(due, 20)
  assert.equal(chosen[0], 'refund0')
  assert.deepEqual(
    ['refund', 'young', 'old'].map((name) => countIn(chosen, name)),
    [5, 10, 5],
  )
  assert.deepEqual(chosen.slice(0, 4), ['refund0', 'young0', 'old0', 'young1'])
})

test('a turn that nobody needs is another’s, and each payment is chosen once', () => {
  const all = ids('one', 3)
  const due = { unanswered: [], youngest: all, longestDue: all.toReversed() }
  assert.deepEqual(inShares(due, 20), ['one0', 'one1', 'one2'])
  const young = { unanswered: [], youngest: ids('young', 40), longestDue: ids('old', 40) }
  assert.equal(countIn(inShares(young, 20), 'young'), 15)
  assert.deepEqual(inShares({ unanswered: [], youngest: [], longestDue: [] }, 20), [])
})
