import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { unpackInto } from '../../src/database/embedded/fresh-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { read } from '../tidy/source-files.ts'

const pglite = 'node_modules/@electric-sql/pglite/package.json'

// `npm run test:long` compares them with what its initdb makes.
test('the files of a fresh database are made by the installed PGlite: npm run fresh-files', () => {
  const { pglite: version } = JSON.parse(read('src/database/embedded/fresh-files.json')) as {
    readonly pglite: string
  }
  assert.equal(version, (JSON.parse(read(pglite)) as { readonly version: string }).version)
})

/** What PostgreSQL calls a database whose log it need not read. */
const shutDown = 1

test('they are unpacked whole, also where a kill has left a part of them', () => {
  using temporary = temporaryFolder()
  const folder = join(temporary.path, 'database')
  mkdirSync(`${folder}.initialising/base/9`, { recursive: true })
  writeFileSync(`${folder}.initialising/PG_VERSION`, '17')
  unpackInto(folder)
  assert.deepEqual(readdirSync(temporary.path), ['database'])
  assert.ok(!readdirSync(join(folder, 'base')).includes('9'))
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const open = all.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)
  assert.deepEqual(open, [], 'nobody else may read what it will hold')
  assert.equal(readFileSync(join(folder, 'global/pg_control')).readUInt32LE(16), shutDown)
})
