import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a PANIC of the embedded database ends the service with one line', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, '.quittance')
  fillDataFolder(data)
  const service = await startService({ cwd: folder.path, args: ['--no-worker'] })
  await service.line(/^ {2}curl -H /)
  const socket = await findEmbedded(data)
  const client = new pg.Client({ ...socket, user: 'quittance', database: 'quittance' })
  client.on('error', () => {})
  await client.connect()
  await client.query('create table doomed (value text storage external)')
  // Without its folder the next segment of the log cannot be made, which PostgreSQL cannot bear.
  renameSync(join(data, 'database/pg_wal'), join(data, 'aside'))
  const began = performance.now()
  await assert.rejects(
    // 64 MB that are not compressed: more than is left of any segment, and soon written.
    client.query("insert into doomed select repeat('x', 16000) from generate_series(1, 4000)"),
  )
  await client.end().catch(() => {})
  const { code, stderr } = await service.ended
  assert.equal(code, 1)
  assert.ok(performance.now() - began < 14_000)
  const lines = stderr.filter((text) => text.startsWith('quittance: '))
  assert.equal(lines.length, 1, stderr.join('\n'))
  assert.match(lines[0] ?? '', /the embedded database in .* ended: .* — Start the service again/)
})
