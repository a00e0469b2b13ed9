import assert from 'node:assert/strict'
import { test } from 'node:test'
import { replicationFinding, type ServerFacts } from './check-database.ts'

const facts: ServerFacts = {
  version: 18,
  encoding: 'UTF8',
  readOnly: false,
  standby: false,
  fsync: 'on',
  synchronousCommit: 'on',
  synchronousNames: '',
  fullPageWrites: 'on',
}

interface Row {
  readonly standbys: Readonly<Record<string, string | null>>
  readonly facts?: Partial<ServerFacts>
  readonly state: string
  readonly found: RegExp
}

const named = { synchronousNames: 'ANY 1 (a, b)' }
const rows: readonly Row[] = [
  { standbys: {}, state: 'ok', found: /no standby/ },
  { standbys: { a: 'async' }, state: 'warning', found: /asynchronous: a\./ },
  { standbys: { a: 'quorum', b: 'quorum' }, facts: named, state: 'ok', found: /for a, b$/ },
  {
    standbys: { a: 'sync', b: 'potential', c: 'async' },
    facts: named,
    state: 'ok',
    found: /for a; never promote b, c$/,
  },
  { standbys: { c: 'async' }, facts: named, state: 'error', found: /none of them is connected/ },
  { standbys: {}, facts: named, state: 'error', found: /ANY 1 \(a, b\).*no commit ends/ },
  // Then commits wait for nobody.
  {
    standbys: { a: 'async' },
    facts: { ...named, synchronousCommit: 'local' },
    state: 'warning',
    found: /asynchronous: a/,
  },
  { standbys: { a: null }, state: 'skipped', found: /pg_monitor/ },
  { standbys: { a: 'async' }, facts: { readOnly: true }, state: 'skipped', found: /read-only/ },
]

test('what a promoted standby would know is told by those that commits wait for', () => {
  for (const row of rows) {
    const standbys = Object.entries(row.standbys).map(([name, syncState]) => ({ name, syncState }))
    const { state, found } = replicationFinding(standbys, { ...facts, ...row.facts })
    assert.equal(state, row.state, JSON.stringify(row))
    assert.match(found, row.found)
  }
})
