import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { temporaryFolder } from '../../test/support/temporary-folder.ts'
import { builtin } from '../gateways/builtin.ts'
import { readConfiguration, variableNames } from './env.ts'

const ofGateways = builtin.flatMap(({ credentials }) =>
  Object.values(credentials).flatMap(({ env }) => env),
)
const names = [...variableNames, ...ofGateways]

let before: NodeJS.ProcessEnv
beforeEach(() => {
  before = { ...process.env }
  for (const name of names) delete process.env[name]
})
afterEach(() => {
  for (const name of names) delete process.env[name]
  Object.assign(process.env, before)
})

test('a blank variable counts as not set, each of them', async () => {
  using folder = temporaryFolder()
  const unset = await readConfiguration(folder.path)
  for (const blank of ['', ' ', '\t \n']) {
    for (const name of names) process.env[name] = blank
    assert.deepEqual(await readConfiguration(folder.path), unset, JSON.stringify(blank))
  }
})

test('so does a blank URL of the database in the configuration file', async () => {
  using folder = temporaryFolder()
  const { database } = (await readConfiguration(folder.path)).options
  writeFileSync(
    join(folder.path, 'quittance.config.js'),
    "export default { database: { url: process.env.DATABASE_URL ?? ' ' } }",
  )
  assert.deepEqual((await readConfiguration(folder.path)).options.database, database)
  process.env['DATABASE_URL'] = 'postgres://127.0.0.1/billing'
  const { options } = await readConfiguration(folder.path)
  assert.deepEqual(options.database, { url: 'postgres://127.0.0.1/billing' })
})
