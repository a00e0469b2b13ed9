/** What takes longest, by `npm test`'s own list; the longest first. */
export const slowest: readonly string[] = [
  'test/faults/processes.test.ts',
  'test/pages/looks.test.ts',
  'test/console/looks.test.ts',
  'test/bench/bench.test.ts',
  'test/cli/readme.test.ts',
  'test/package/tarball.test.ts',
  'test/docs/snippets.test.ts',
  'test/pages/invoice-looks.test.ts',
  'test/subscriptions/processes.test.ts',
  'test/rehearsal/stories.test.ts',
  'test/examples/nextjs.test.ts',
  'test/deploy/deploy.test.ts',
  'test/runtimes/runtimes.test.ts',
  'test/money/refunds.test.ts',
  'test/embedded/owner.test.ts',
  'test/scenarios/listeners.test.ts',
  'test/money/lost-callbacks.test.ts',
  'test/money/checkouts.test.ts',
  'test/scenarios/misbehaviour.test.ts',
  'test/faults/batches.test.ts',
  'test/faults/overload.test.ts',
  'test/intake/masking.test.ts',
  'test/faults/refunds.test.ts',
]

/** These files, the slow ones first: what ends last is short then, and no core waits for it. */
export function slowFirst(files: readonly string[]): readonly string[] {
  const missing = slowest.filter((file) => !files.includes(file))
  if (missing.length > 0) throw new Error(`no such test file: ${missing.join(', ')}`)
  return [...slowest, ...files.filter((file) => !slowest.includes(file)).toSorted()]
}
