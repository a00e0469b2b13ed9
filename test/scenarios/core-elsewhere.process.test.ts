import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { onPostgres } from '../support/databases.ts'

/** These neither read the texts of statements nor send their own past the database of the test. */
const core = globSync([
  'test/rooms/processing/{after-*,browser-*,deferred-*,event-*,interpreting,re*,subscription-*}.test.ts',
  'test/scenarios/{accounts,calls,disputes,find,history,listeners,payment-*,repair-*,review*,runs}.test.ts',
  'test/usage/{bounds,events,upkeep,usage}.test.ts',
  'test/invoices/{charges,export,periods,providers}.test.ts',
]).toSorted()

onPostgres(() => {
  test('the core does in another schema what it does in its own', () => {
    const { QUITTANCE_TEST_POSTGRES_TEMPLATE: _ofOtherSchema, ...inherited } = process.env
    const { status, stdout } = spawnSync('npm', ['run', '--silent', 'test:only', '--', ...core], {
      env: { ...inherited, BILLING_SCHEMA: 't1', NODE_TEST_CONTEXT: undefined },
      encoding: 'utf8',
    })
    assert.equal(status, 0, stdout)
    assert.match(stdout, /^ℹ skipped 0$/m)
    assert.ok(Number(/^ℹ pass (\d+)$/m.exec(stdout)?.[1]) > 200, stdout)
  })
})
