import assert from 'node:assert/strict'
import { test } from 'node:test'
import { repeatRounds, type Rounds } from '../../bench/rounds.ts'

const progress = () => {}

/** A baseline that gives these rates one after the other, and a subject at half of them. */
function rates(...given: readonly number[]) {
  const left = [...given]
  return async (rounds: Rounds) => {
    const rate = left.shift() ?? Number.NaN
    rounds.add('B', { perSecond: rate })
    rounds.add('serve', { perSecond: rate / 2 })
  }
}

test('a round in which the baseline was slow does not count, and is run again', async () => {
  const rounds = await repeatRounds(
    { count: 3, baseline: 'B', progress },
    rates(1_000, 799, 800, 900),
  )
  const [baseline, serve] = rounds.figures(['B'])
  assert.deepEqual(baseline?.values['perSecond'], { median: 900, least: 800, most: 1_000 })
  assert.deepEqual(serve?.values['perSecond'], { median: 450, least: 400, most: 500 })
  assert.deepEqual(serve?.of['B'], { median: 0.5, least: 0.5, most: 0.5 })
})

test('where times are measured, the round in which the baseline took longer does not count', async () => {
  const left = [29, 45, 31, 30]
  const rounds = await repeatRounds({ count: 3, baseline: 'node', progress }, async (each) => {
    const ms = left.shift() ?? Number.NaN
    each.add('node', { ms })
    each.add('quittance', { ms: ms * 2 })
  })
  const [baseline, quittance] = rounds.figures(['node'])
  assert.deepEqual(baseline?.values['ms'], { median: 30, least: 29, most: 31 })
  assert.deepEqual(quittance?.values['ms'], { median: 60, least: 58, most: 62 })
})

test('two rounds are run again at most, and the calm ones among all of them count', async () => {
  const all = [700, 1_000, 700, 700, 900, 1_000]
  const rounds = await repeatRounds({ count: 3, baseline: 'B', progress }, rates(...all))
  assert.equal(rounds.calm('B'), 2)
  const [baseline] = rounds.figures(['B'])
  assert.deepEqual(baseline?.values['perSecond'], { median: 950, least: 900, most: 1_000 })
})

test('without a baseline that shows it no round counts as disturbed', async () => {
  const all = [1_000, 100, 700, 9_000]
  const rounds = await repeatRounds({ count: 3, baseline: undefined, progress }, rates(...all))
  const [baseline, serve] = rounds.figures(['B'], 'every')
  assert.deepEqual(baseline?.values['perSecond'], { median: 700, least: 100, most: 1_000 })
  assert.deepEqual(serve?.of['B'], { median: 0.5, least: 0.5, most: 0.5 })
})

test('where the baseline cannot be measured, every round counts, and none is run again', async () => {
  const left = [100, 1_000, 500]
  const rounds = await repeatRounds({ count: 2, baseline: 'J', progress }, async (each) => {
    each.add('J', { perSecond: Number.NaN })
    each.add('serve', { perSecond: left.shift() ?? 0 })
  })
  const [, serve] = rounds.figures(['J'])
  assert.deepEqual(serve?.values['perSecond'], { median: 550, least: 100, most: 1_000 })
})
