import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { filesIn, read, root } from '../tidy/source-files.ts'

const { devDependencies } = JSON.parse(read('package.json')) as {
  readonly devDependencies: { readonly node: string }
}

test('the examples are started with the Node that the repository installs', async () => {
  const started = filesIn('examples', /\.(?:ts|md)$/).flatMap(({ text }) =>
    Array.from(text.matchAll(/(\S*) ?node ((?:examples|express)\S+)/g), ([, before = '', file]) => [
      before,
      file,
    ]),
  )
  assert.ok(started.length > 4)
  assert.deepEqual(
    started.filter(([before = '']) => !before.endsWith('npx')),
    [],
  )
  const run = promisify(execFile)
  const { stdout } = await run('npx', ['node', '-p', 'process.versions.node'], { cwd: root })
  assert.equal(stdout.trim(), devDependencies.node)
})
