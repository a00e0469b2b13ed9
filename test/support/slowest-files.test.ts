import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestEvent } from 'node:test/reporters'
import slowestFiles from './slowest-files.ts'

/** What node:test tells at the end of a file, and without a file at the end of the run. */
function summary(file: string | undefined, seconds: number): TestEvent {
  const counts = { cancelled: 0, passed: 1, skipped: 0, suites: 0, tests: 1, todo: 0, topLevel: 1 }
  const data = { file, duration_ms: seconds * 1000, success: true, counts }
  return { type: 'test:summary', data }
}

async function* inOrder(events: readonly TestEvent[]): AsyncGenerator<TestEvent> {
  yield* events
}

test('a run ends with its ten slowest files, the slowest first', async () => {
  const files = Array.from({ length: 12 }, (_, index) =>
    summary(join(process.cwd(), `test/of-${index}.test.ts`), (index * 5) % 12),
  )
  let printed = ''
  const run = inOrder([...files, summary(undefined, 60)])
  for await (const text of slowestFiles(run)) printed += text
  const order = [7, 2, 9, 4, 11, 6, 1, 8, 3, 10]
  assert.equal(
    printed,
    [
      '\nslowest files:',
      ...order.map(
        (index, place) => `${`${11 - place}.0`.padStart(7)} s  test/of-${index}.test.ts`,
      ),
      '',
    ].join('\n'),
  )
})
