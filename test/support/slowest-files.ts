/** A reporter for node:test: at the end of a run, the files that took longest. */
import { basename, relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'

const shown = 10

export default async function* slowestFiles(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string> {
  const times = new Map<string, number>()
  for await (const { type, data } of events) {
    if (type !== 'test:summary') continue
    if (data.file !== undefined) times.set(data.file, data.duration_ms)
    else yield linesOf(times)
  }
}

function linesOf(times: ReadonlyMap<string, number>): string {
  const slowest = [...times].toSorted(([, one], [, other]) => other - one).slice(0, shown)
  const lines = slowest.map(([file, ms]) => `${inSeconds(ms)} ${nameOf(file)}\n`)
  return `\nslowest files:\n${lines.join('')}`
}

/** What several test files share lies elsewhere. */
function nameOf(file: string): string {
  const path = relative(process.cwd(), file)
  return path.startsWith('..') ? basename(file) : path
}

const inSeconds = (ms: number) => `${(ms / 1000).toFixed(1).padStart(7)} s `
