import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { onPostgres } from '../support/databases.ts'

/** Tests of the core that send no statement of their own past the database of the test. */
const core = globSync(['test/rooms/processing/*.test.ts', 'test/scenarios/*.test.ts']).toSorted()

onPostgres(() => {
  test('the core does in another schema what it does in its own', () => {
    const environment: NodeJS.ProcessEnv = { ...process.env, BILLING_SCHEMA: 't1' }
    // The template of this run has the other schema.
    for (const name of Object.keys(environment)) {
      if (/^QUITTANCE_TEST_POSTGRES_TEMPLATE$|^NODE_TEST/.test(name)) delete environment[name]
    }
    const { status, stdout } = spawnSync('npm', ['run', '--silent', 'test:only', '--', ...core], {
      env: environment,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
  })
})
