import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { prepareDataFolder, refuseOwnedByOthers } from './data-folder.ts'

test('a data folder of another user is refused and left as it is', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'owned-'))
  t.after(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const { uid } = statSync(folder)
  assert.throws(
    () => prepareDataFolder(folder, () => assert.fail('it was changed'), uid + 1),
    new RegExp(`cannot be used: .* belongs to user ${uid}, and this is user ${uid + 1}`),
  )
  assert.equal(statSync(folder).mode & 0o777, 0o755)
})

test('so are a database and a lock of another user within it', () => {
  for (const foreign of ['/data', '/data/database', '/data/lock']) {
    const owner = (path: string) => (path === foreign ? 1002 : 1001)
    const expected = new RegExp(`^Error: ${foreign} belongs to user 1002`)
    assert.throws(() => refuseOwnedByOthers('/data', 1001, owner), expected)
    refuseOwnedByOthers('/data', undefined, owner)
  }
  refuseOwnedByOthers('/data', 1001, (path) => (path === '/data' ? 1001 : undefined))
})
