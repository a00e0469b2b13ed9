import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { minutes } from '../../src/kernel/duration.ts'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { createPool, open, startOwner, temporaryFolder, type OpenedForTest } from './support.ts'

async function untilLost({ lost }: OpenedForTest): Promise<void> {
  while (lost.length === 0) await pause(20)
  // A second report would follow at once.
  await pause(300)
}

test('a hung database is reported once, and the folder is free for the next start', async (t) => {
  const folder = temporaryFolder(t)
  const embedded = await open(t, { dataDir: folder, hungAfterMs: 3000 })
  const pool = createPool(t, embedded.socket)
  await pool.query('create table kept as select 1 as value')
  // Longer than the limit, but healthy: answered pings keep the database.
  for (let round = 0; round < 10; round += 1) {
    await pool.query('select 1')
    await pause(500)
  }
  // As healthy: a statement of a client that has said how long it may take.
  const patient = createPool(t, embedded.socket, { statement_timeout: 60_000 })
  await patient.query(`do $$ declare until timestamptz := clock_timestamp() + interval '6 seconds';
    begin while clock_timestamp() < until loop end loop; end $$`)
  assert.equal(embedded.lost.length, 0)
  // A loop inside the database: the thread answers nobody.
  const endless = 'do $$ begin loop end loop; end $$'
  const answers = await Promise.allSettled([
    pool.query(endless),
    pool.query('select 1'),
    untilLost(embedded),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(
    embedded.lost.map(({ code }) => code),
    ['embedded_lost'],
  )
  assert.match(embedded.lost[0]?.message ?? '', /did not answer for 3000 ms/)
  await assert.rejects(pool.query('select 1'))
  await embedded.close()
  await embedded.close()
  const next = await open(t, { dataDir: folder })
  assert.equal((await createPool(t, next.socket).query('select value from kept')).rows[0].value, 1)
  await next.close()
  assert.deepEqual(next.lost, [])

  await t.test('a PANIC is reported once and at once, and never spins', async (t) => {
    // Nobody waits for it to be taken for hung.
    const embedded = await open(t, { dataDir: folder, hungAfterMs: minutes(30) })
    const pool = createPool(t, embedded.socket)
    await pool.query('create table doomed (value text storage external)')
    // Without its folder the next segment of the log cannot be made, which PostgreSQL cannot bear.
    const log = join(folder, 'database/pg_wal')
    renameSync(log, join(folder, 'aside'))
    const [answer] = await Promise.allSettled([
      // 64 MB that are not compressed: more than is left of any segment, and soon written.
      pool.query("insert into doomed select repeat('x', 16000) from generate_series(1, 4000)"),
      untilLost(embedded),
    ])
    renameSync(join(folder, 'aside'), log)
    assert.equal(answer.status, 'rejected')
    assert.deepEqual(
      embedded.lost.map(({ code }) => code),
      ['embedded_lost'],
    )
    assert.match(embedded.lost[0]?.message ?? '', /PANIC|Aborted/)
  })

  await t.test('the clients of a killed owner get an error', async (t) => {
    const owner = startOwner(t, 'serve', folder)
    await owner.line('ready')
    const pool = createPool(t, await findEmbedded(folder))
    await pool.query('select 1')
    owner.child.kill('SIGKILL')
    await owner.ended
    await assert.rejects(pool.query('select 1'))
  })
})
