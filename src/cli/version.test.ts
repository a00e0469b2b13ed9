import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { versionIn } from './version.ts'

const commit = '3e0c2426d1f0aa00bb11cc22dd33ee44ff556677'
const built = '0.1.0+3e0c2426d1f0'

/** What is said of a folder with these files. */
function versionOf(files: Readonly<Record<string, string>>): string {
  using folder = temporaryFolder()
  for (const [name, text] of Object.entries({ 'package.json': '{"version":"0.1.0"}', ...files })) {
    const path = join(folder.path, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return versionIn(folder.path)
}

test('the version of a checkout or of a package names its commit', () => {
  const main = 'ref: refs/heads/main\n'
  const packed = `# pack-refs with: peeled\n${'0'.repeat(40)} refs/heads/a/main\n${commit} refs/heads/main\n`
  for (const [files, said] of [
    [{}, '0.1.0'],
    [{ 'package.json': `{"version":"0.1.0","gitHead":"${commit}"}` }, built],
    [{ '.git/HEAD': `${commit}\n` }, built],
    [{ '.git/HEAD': main, '.git/refs/heads/main': `${commit}\n` }, built],
    [{ '.git/HEAD': main, '.git/packed-refs': packed }, built],
    [{ '.git/HEAD': main }, '0.1.0'],
    [{ '.git': 'gitdir: /elsewhere' }, '0.1.0'],
  ] as const) {
    assert.equal(versionOf(files), said)
  }
})
