/** Runs after the tests: reads every statement that the product has sent in them. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'libpg-query'
import { postgres } from '../support/databases.ts'
import { directPool } from '../support/direct-pool.ts'
import { statementsVariable, type SentStatement } from '../support/sent-statements.ts'
import { faultsIn } from './routed-rules.ts'

function readSent(): readonly SentStatement[] {
  const lines = readFileSync(process.env[statementsVariable] ?? '', 'utf8').split('\n')
  const sent = lines.filter(Boolean).map((line) => JSON.parse(line) as SentStatement)
  return [...new Map(sent.map((one) => [one.text, one])).values()]
}

/** Names of functions of which not every one gives the same result for the same arguments. */
async function readPassing(): Promise<ReadonlySet<string>> {
  const { url: connectionString, drop } = await postgres.createEmpty()
  const pool = directPool({ connectionString })
  const { rows } = await pool.query<{ name: string }>(
    `select proname as name from pg_proc group by proname having bool_and(provolatile <> 'i')`,
  )
  await pool.end()
  await drop()
  return new Set(rows.map(({ name }) => name))
}

test('no statement is one that a server which spreads schemas refuses', async () => {
  const passing = await readPassing()
  const known = { isImmutable: (name: string) => !passing.has(name) }
  const sent = readSent()
  assert.ok(sent.length > 300, `${sent.length} statements were read`)
  const found = await Promise.all(
    sent.map(async ({ text, place }) =>
      faultsIn(await parse(text), known).map((fault) => `${place}: ${fault}\n${text}\n`),
    ),
  )
  assert.deepEqual([...new Set(found.flat())], [])
})
