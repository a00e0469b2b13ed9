import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './temporary-folder.ts'

const reporter = fileURLToPath(new URL('slowest-files.ts', import.meta.url))

test('a run ends with its ten slowest files, the slowest first, the failed one included', async () => {
  using folder = temporaryFolder()
  mkdirSync(join(folder.path, 'of'))
  const write = (name: string, ms: number) =>
    writeFileSync(
      join(folder.path, 'of', `${name}.test.js`),
      `require('node:test')('waits', () => new Promise((end, fail) => setTimeout(${ms > 400 ? 'fail' : 'end'}, ${ms})))`,
    )
  for (let count = 0; count < 10; count += 1) write(`quick-${count}`, 0)
  write('slow', 300)
  write('slowest', 700)
  const lines = (await runTests(folder.path)).split('\n')
  const [title, first, second, ...others] = lines.slice(lines.indexOf('slowest files:'))
  assert.equal(title, 'slowest files:')
  assert.match(first ?? '', /^ +\d+\.\d s {2}of\/slowest\.test\.js$/)
  assert.match(second ?? '', /^ +\d+\.\d s {2}of\/slow\.test\.js$/)
  assert.equal(others.filter((line) => line.includes('of/quick-')).length, 8)
})

function runTests(cwd: string): Promise<string> {
  const args = ['--test', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout']
  // As from a shell: not as a part of the run that this test belongs to.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env }, (_error, stdout) => resolve(stdout))
  })
}
