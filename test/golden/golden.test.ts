import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { before, test } from 'node:test'
import { onPostgres } from '../support/databases.ts'
import { read } from '../tidy/source-files.ts'
import { differences } from './compare.ts'
import { goldenStructures } from './golden.ts'
import type { Structure } from './shape.ts'

const kept = globSync('test/golden/*.json').map((file) => basename(file, '.json'))
/** More of them would hide the first. */
const mostShown = 60

onPostgres(() => {
  let structures: Readonly<Record<string, Structure>>
  before(async () => {
    structures = await goldenStructures()
  })
  test('each golden file is compared', () => {
    assert.deepEqual(kept.toSorted(), Object.keys(structures).toSorted())
  })

  for (const name of kept) {
    test(`${name}: what the outside relies on is as it was`, () => {
      const was = JSON.parse(read(`test/golden/${name}.json`)) as Structure
      const found = differences(was, structures[name] ?? '')
      const more = found.length > mostShown ? [`and ${found.length - mostShown} more`] : []
      const text = [...found.slice(0, mostShown), ...more].join('\n')
      assert.equal(text, '', `${text}\nIf it is meant to change: npm run golden`)
    })
  }
})
