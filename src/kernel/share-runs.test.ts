import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { until } from '../../test/support/until.ts'
import { shareRuns } from './share-runs.ts'

/** Runs that end when the test says so. */
function heldRuns() {
  const runs: PromiseWithResolvers<void>[] = []
  const work = () => {
    const run = Promise.withResolvers<void>()
    runs.push(run)
    return run.promise
  }
  const begun = (count: number) =>
    until(() => runs.length === count, { what: `run ${count} begins` })
  return { runs, work, begun }
}

test('who asks first begins a run; all who ask meanwhile share the one that begins after it', async () => {
  const { runs, work, begun } = heldRuns()
  const { ask, ended } = shareRuns(work, 1)
  let served = 0
  const asked = [1, 2, 3, 4].map(() => ask().then(() => (served += 1)))
  assert.equal(runs.length, 1)
  let over = false
  const end = ended().then(() => (over = true))
  runs[0]?.resolve()
  await begun(2)
  await turn()
  assert.deepEqual([served, over], [1, false])
  runs[1]?.resolve()
  await Promise.all([end, ...asked])
  assert.deepEqual([served, runs.length], [4, 2])
  void ask()
  assert.equal(runs.length, 3, 'where none is under way it begins at once')
})

test('a run that fails is the failure of those who asked for it, and of nobody after them', async () => {
  const { runs, work, begun } = heldRuns()
  const { ask, ended } = shareRuns(work, 1)
  const [first, second] = [ask(), ask()]
  runs[0]?.reject(new Error('away'))
  await assert.rejects(first, /away/)
  await begun(2)
  runs[1]?.reject(new Error('still away'))
  await assert.rejects(second, /still away/)
  await ended()
  const third = ask()
  runs[2]?.resolve()
  await third
})

test('a run that throws before it begins is a run that fails', async () => {
  let throws = true
  const { ask, ended } = shareRuns((): Promise<void> => {
    if (throws) throw new Error('not even begun')
    return Promise.resolve()
  }, 1)
  const asked = await Promise.allSettled([ask(), ask()])
  assert.deepEqual(
    asked.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  await turn()
  throws = false
  await ask()
  await ended()
})

test('runs begin no sooner after one another than said', async (t) => {
  const every = 60
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let runs = 0
  const { ask } = shareRuns(async () => void (runs += 1), every)
  const asked = Promise.all([ask(), ask()])
  await turn()
  t.mock.timers.tick(every - 1)
  await turn()
  assert.equal(runs, 1)
  t.mock.timers.tick(1)
  await asked
  assert.equal(runs, 2)
})

test('it has not ended between a run and the one that was asked for meanwhile', async () => {
  const { runs, work } = heldRuns()
  const { ask, ended } = shareRuns(work, 1)
  const asked = [ask(), ask()]
  // A longer timer, started later: the shortest time between two runs is over before it.
  await pause(10)
  runs[0]?.resolve()
  const ends: Promise<unknown>[] = []
  const early: number[] = []
  let over = false
  for (let step = 0; step < 20; step += 1) {
    const noted = () => over || early.push(step)
    ends.push(ended().then(noted))
    await Promise.resolve()
  }
  assert.equal(runs.length, 2, 'in one of these steps the second began')
  await turn()
  over = true
  runs[1]?.resolve()
  await Promise.all([...asked, ...ends])
  assert.deepEqual(early, [])
})
