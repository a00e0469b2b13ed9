import assert from 'node:assert/strict'
import { PGlite } from '@electric-sql/pglite'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { unpackInto } from '../../src/database/embedded/fresh-files.ts'
import { runInitdb } from '../support/fresh-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a fresh database has the files and the catalogues that initdb makes', async () => {
  using temporary = temporaryFolder()
  const made = join(temporary.path, 'made')
  const unpacked = join(temporary.path, 'unpacked')
  await runInitdb(made)
  unpackInto(unpacked)
  const names = listing(made)
  assert.deepEqual(listing(unpacked), names)
  for (const name of names.filter((one) => /^[^/]+(?:\.conf|_VERSION)$/.test(one))) {
    assert.equal(read(unpacked, name), read(made, name), name)
  }
  assert.deepEqual(controlOf(unpacked), controlOf(made))
  assert.deepEqual(await cataloguesOf(unpacked), await cataloguesOf(made))
})

function listing(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
}

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')

/** The versions of the format and of the catalogues, and how it was left. */
function controlOf(folder: string) {
  const bytes = readFileSync(join(folder, 'global/pg_control'))
  const [format, catalogues, state] = [8, 12, 16].map((at) => bytes.readUInt32LE(at))
  return { format, catalogues, state }
}

/** A digest of each catalogue. Statistics and the ids of initdb's transactions may differ. */
async function cataloguesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  await using database = await PGlite.create(folder)
  const { rows } = await database.query<{ name: string }>(
    `select relname as name from pg_class
     where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r'
       and relname not in ('pg_statistic', 'pg_class', 'pg_database') order by 1`,
  )
  const digests = await database.exec(
    rows
      .map(
        ({ name }) =>
          `select '${name}' as name, md5(string_agg(t::text, ',' order by t::text)) as digest ` +
          `from pg_catalog.${name} t`,
      )
      .join(';'),
  )
  return new Map(digests.map(({ rows: [row] }) => [String(row?.['name']), String(row?.['digest'])]))
}
