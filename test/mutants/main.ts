/**
 * `npm run mutants`: whether the tests notice a fixed set of small changes of the code. Each change
 * is tried only with the test files that reach its line; the first that fails ends it.
 *
 *   npm run mutants                       fails where the tests no longer notice a change; asks all
 *                                         of them only where those that did before no longer do
 *   npm run mutants -- choose COUNT SEED  chooses another set
 *   npm run mutants -- cover              which test files reach which change, and what each costs
 *   npm run mutants -- record             writes which test file notices each change into the set;
 *                                         goes on where a run before it was ended
 */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { testFiles } from '../support/run-files.ts'
import { choose, type Mutant } from './choose.ts'
import type { FileResult, FileRun } from './lane.ts'
import { makeTree } from './tree.ts'

/** A mutant of the set, and the test file that noticed it when the set was recorded. */
interface Recorded extends Mutant {
  readonly noticedBy?: string | null
}

const setFile = 'test/mutants/set.json'
const folder = resolve('.cache/mutants')
const reachFile = join(folder, 'reach.json')
const verdictsFile = join(folder, 'verdicts.json')
const lanes = 2

const readSet = () => JSON.parse(readFileSync(setFile, 'utf8')) as readonly Recorded[]
const writeSet = (set: readonly Recorded[]) =>
  writeFileSync(setFile, `${JSON.stringify(set, undefined, 2)}\n`)

interface Lane {
  run(run: FileRun): Promise<FileResult>
  end(): Promise<void>
}

async function startLane(tree: string): Promise<Lane> {
  const child: ChildProcess = fork('test/mutants/lane.ts', { cwd: tree })
  const [word] = (await once(child, 'message')) as [unknown]
  if (word !== 'ready') throw new Error(`a lane says ${String(word)}`)
  return {
    run: async (run) => {
      child.send(run)
      const [result] = (await once(child, 'message')) as [FileResult]
      return result
    },
    end: async () => {
      child.send('end')
      await once(child, 'exit')
    },
  }
}

const trees = Array.from({ length: lanes }, (_, at) => join(folder, `lane-${at + 1}`))

/** Makes the tree of each lane. A change whose line is gone tests nothing: it is chosen again. */
async function makeTrees(mutants: readonly Mutant[]): Promise<void> {
  const [gone = []] = await Promise.all(trees.map((tree) => makeTree(tree, mutants)))
  for (const { name, file, code } of gone) {
    process.stdout.write(`GONE  ${name}: ${file} has no such line: ${code}\n`)
    process.exitCode = 1
  }
}

/** Gives each lane one job after another. */
async function inLanes<Job>(
  jobs: readonly Job[],
  work: (lane: Lane, job: Job) => Promise<void>,
): Promise<void> {
  const left = [...jobs]
  await Promise.all(
    trees.map(async (tree) => {
      const lane = await startLane(tree)
      for (let job = left.shift(); job !== undefined; job = left.shift()) await work(lane, job)
      await lane.end()
    }),
  )
}

/** Which of these files reaches which mutants, and what it costs. */
async function cover(
  set: readonly Mutant[],
  files: readonly string[] = testFiles(),
): Promise<readonly FileResult[]> {
  rmSync(verdictsFile, { force: true })
  const results: FileResult[] = []
  await makeTrees(set)
  await inLanes(files, async (lane, file) => {
    const result = await lane.run({ file, mutant: '', limitSeconds: 900 })
    results.push(result)
    const { passed, seconds, processorSeconds } = result
    const word = passed ? 'ok  ' : 'FAIL'
    const times = `${processorSeconds.toFixed(1)} s of processor, ${seconds.toFixed(1)} s`
    process.stdout.write(`${word}  ${results.length}/${files.length} ${file}: ${times}\n`)
    writeFileSync(reachFile, JSON.stringify(results))
  })
  return results
}

interface Verdict {
  readonly name: string
  readonly noticedBy: string | null
  readonly tried: number
}

/** So much processor time is tried for one mutant; it ends only what no file notices. */
const mostSeconds = 240

/**
 * The files that reach it, the likeliest first: the one that noticed it before, those that import
 * its file, those of its room, and the others; of each kind the cheap ones first.
 */
function filesFor({ name, file: changed, noticedBy }: Recorded, reach: readonly FileResult[]) {
  const able = reach.filter(({ passed, reached }) => passed && reached.includes(name))
  const room = changed.split('/')[1] ?? ''
  const kindOf = ({ file }: FileResult) => {
    if (file === noticedBy) return 0
    if (readFileSync(file, 'utf8').includes(`/${basename(changed)}'`)) return 1
    return file.includes(`/${room}/`) ? 2 : 3
  }
  const ranked = able.map((result) => ({ ...result, kind: kindOf(result) }))
  return ranked.toSorted(
    (one, other) => one.kind - other.kind || one.processorSeconds - other.processorSeconds,
  )
}

async function tryAll(
  set: readonly Recorded[],
  reach: readonly FileResult[],
): Promise<readonly Verdict[]> {
  const known = existsSync(verdictsFile)
    ? (JSON.parse(readFileSync(verdictsFile, 'utf8')) as Verdict[])
    : []
  const verdicts = [...known]
  const rest = set.filter(({ name }) => known.every((verdict) => verdict.name !== name))
  await inLanes(rest, async (lane, mutant) => {
    const files = filesFor(mutant, reach)
    let noticedBy: string | null = null
    let tried = 0
    let spent = 0
    for (const { file, seconds, processorSeconds } of files) {
      if (spent > mostSeconds) break
      spent += processorSeconds
      tried++
      const limitSeconds = 60 + seconds * 5
      const run = { file, mutant: mutant.name, limitSeconds }
      // Twice: a test that fails now and then has noticed nothing.
      if ((await lane.run(run)).passed || (await lane.run(run)).passed) continue
      noticedBy = file
      break
    }
    verdicts.push({ name: mutant.name, noticedBy, tried })
    const word =
      noticedBy === null ? `NOT NOTICED by ${tried} of ${files.length}` : `by ${noticedBy}`
    process.stdout.write(
      `${verdicts.length}/${set.length} ${mutant.name}: ${word} (${tried} tried)\n`,
    )
    writeFileSync(verdictsFile, JSON.stringify(verdicts))
  })
  return verdicts
}

const readReach = () => JSON.parse(readFileSync(reachFile, 'utf8')) as readonly FileResult[]

const wasNoticed = ({ noticedBy }: Recorded) => typeof noticedBy === 'string'

/** Whether what was noticed before still is. */
async function check(set: readonly Recorded[]): Promise<void> {
  const before = set.filter(wasNoticed)
  if (before.length === 0) {
    throw new Error(`${setFile} says of no change which test notices it: npm run mutants -- record`)
  }
  const files = new Set(before.map(({ noticedBy }) => noticedBy ?? ''))
  const reach = await cover(
    set,
    testFiles().filter((file) => files.has(file)),
  )
  const left = lostOf(before, await tryAll(before, reach))
  report(set, left.length === 0 ? [] : lostOf(left, await tryAll(left, await cover(left))))
}

async function record(set: readonly Recorded[]): Promise<void> {
  const reach = existsSync(reachFile) ? readReach() : await cover(set)
  const verdicts = await tryAll(set, reach)
  report(set, lostOf(set.filter(wasNoticed), verdicts))
  const noticed = new Map(verdicts.map(({ name, noticedBy }) => [name, noticedBy]))
  writeSet(set.map((mutant) => ({ ...mutant, noticedBy: noticed.get(mutant.name) ?? null })))
}

function lostOf(set: readonly Recorded[], verdicts: readonly Verdict[]): readonly Recorded[] {
  return set.filter(({ name }) =>
    verdicts.some((verdict) => verdict.name === name && verdict.noticedBy === null),
  )
}

function report(set: readonly Recorded[], lost: readonly Recorded[]): void {
  const noticed = set.filter(wasNoticed).length - lost.length
  process.stdout.write(`${noticed} of ${set.length} are noticed\n`)
  for (const { name, file, line } of lost) {
    process.stdout.write(`LOST  ${name}: ${file}:${line}\n`)
    process.exitCode = 1
  }
}

mkdirSync(folder, { recursive: true })
const [command, ...words] = process.argv.slice(2)
if (command === 'choose') {
  const [count, seed] = words.map(Number)
  if (count === undefined || seed === undefined) throw new Error('choose COUNT SEED')
  writeSet(await choose(count, seed))
} else if (command === 'cover') await cover(readSet())
else if (command === 'record') await record(readSet())
else await check(readSet())
