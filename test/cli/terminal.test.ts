import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/database/connect.ts'
import { onPostgres } from '../support/databases.ts'
import { deploy, type Deployment } from '../support/deployment.ts'
import { idMadeAt } from '../support/id-made-at.ts'
import { runCommand } from '../support/process.ts'
import { onTerminal } from './on-terminal.ts'

const escape = '\u001b['

onPostgres((engine) => {
  let deployment: Deployment
  let database: Database
  before(async () => {
    deployment = await deploy(engine)
    database = await deployment.connect()
  })
  after(async () => {
    await database.close()
    await deployment.remove()
  })
  const run = async (args: string, columns: number, env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout, stderr } = await runCommand(args.split(' '), {
      ...deployment,
      env: { ...deployment.env, TERM: 'xterm-256color', ...env },
      nodeFlags: onTerminal(columns),
    })
    return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
  }
  /** So many that the bar, drawn a few times a second, is seen. */
  const count = 20_000
  const storeCalls = (state: string, age: string) =>
    database.pool.query(
      `insert into billing.webhook_calls
        (id, gateway, queue, url, headers, kind, payload, state, received_at, processed_at)
       select ${idMadeAt('now() - $2::interval')}, 'fake', 'default', '/', '{}', 'json', '{}', $1,
         now() - $2::interval, now() - $2::interval
       from generate_series(1, ${count})`,
      [state, age],
    )

  for (const [command, state, age, word] of [
    ['calls replay --failed', 'failed', '1 minute', 'queued'],
    ['prune', 'processed', '1000 days', 'deleted'],
  ] as const) {
    test(`${command} shows on a wide terminal how far it is`, async () => {
      await storeCalls(state, age)
      const wide = await run(command, 80)
      assert.equal(wide.code, 0, wide.stderr)
      assert.match(wide.stderr, new RegExp(`${word} \\d+ of ${count}`))
      assert.ok(!wide.stdout.includes(` of ${count}`))
      await storeCalls(state, age)
      assert.equal((await run(command, 40)).stderr, '', 'there is no room for it')
    })
  }

  test('reconcile shows on a wide terminal how far it is', async () => {
    await database.pool.query(
      `insert into billing.payments
        (id, gateway, amount, currency, payable_type, payable_id, handed_at, next_poll_at)
       select gen_random_uuid(), 'fake', 100, 'UAH', 'order', '1', now(), now()
       from generate_series(1, 15)`,
    )
    const { code, stdout, stderr } = await run('reconcile', 80)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /asked about \d+ of 15/)
    assert.match(stdout, /^Asked about 15 payments:/)
  })

  test('colours are shown on a terminal, and not under NO_COLOR', async () => {
    assert.ok((await run('doctor', 80)).stdout.includes(escape))
    assert.ok(!(await run('doctor', 80, { NO_COLOR: '1' })).stdout.includes(escape))
  })
})
