import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Database } from '../../src/database/connect.ts'
import { runHosted, type HostedOptions } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deploy, type Deployment } from '../support/deployment.ts'
import { idMadeAt } from '../support/id-made-at.ts'

const escape = '\u001b['

onPostgres((engine) => {
  let deployment: Deployment
  let database: Database
  before(async () => {
    deployment = await deploy(engine)
    database = await deployment.connect()
    await waitForBar()
  })
  after(async () => {
    await database.close()
    await deployment.remove()
  })
  const run = async (args: string, columns: number, options: Partial<HostedOptions> = {}) => {
    const { code, stdout, stderr } = await runHosted(args.split(' '), {
      ...options,
      cwd: deployment.cwd,
      env: { ...deployment.env, TERM: 'xterm-256color', ...options.env },
      terminal: { columns },
    })
    return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') }
  }
  const storeCalls = (state: string, age: string, count: number) =>
    database.pool.query(
      `insert into billing.webhook_calls
        (id, gateway, queue, url, headers, kind, payload, state, received_at, processed_at)
       select ${idMadeAt('now() - $2::interval')}, 'fake', 'default', '/', '{}', 'json', '{}', $1,
         now() - $2::interval, now() - $2::interval
       from generate_series(1, ${count})`,
      [state, age],
    )

  /** The second statement of a command waits until the bar has shown what the first one did. */
  const waitForBar = async () => {
    await database.pool.query('create sequence turn; create table shown ()')
    await database.pool.query(
      `create function wait_for_bar() returns trigger language plpgsql as $$ begin
         if nextval('turn') = 2 then
           while not exists (select from shown) loop perform pg_sleep(0.005); end loop;
         end if;
         return null;
       end $$`,
    )
    await database.pool.query(
      `create trigger wait_for_bar after update or delete on billing.webhook_calls
       for each statement execute function wait_for_bar()`,
    )
  }

  for (const [command, state, age, word, batch] of [
    ['calls replay --failed', 'failed', '1 minute', 'queued', 100],
    ['prune', 'processed', '1000 days', 'deleted', 500],
  ] as const) {
    test(`${command} shows on a wide terminal how far it is`, async () => {
      const count = 3 * batch
      await storeCalls(state, age, count)
      await database.pool.query('alter sequence turn restart; delete from shown')
      const bar = `${word} ${batch} of ${count}`
      let stderr = ''
      const onStderr = (text: string) => {
        const isShown = stderr.includes(bar)
        stderr += text
        if (isShown || !stderr.includes(bar)) return
        void database.pool.query('insert into shown default values')
      }
      const wide = await run(command, 80, { onStderr })
      assert.equal(wide.code, 0, wide.stderr)
      assert.ok(wide.stderr.includes(bar), wide.stderr)
      assert.ok(!wide.stdout.includes(` of ${count}`))
      await storeCalls(state, age, count)
      const narrow = (await run(command, 12)).stderr.replaceAll(`${escape}K`, '').split(/[\r\n]/)
      assert.ok(narrow.includes(`${bar.slice(0, 10)}…`), JSON.stringify(narrow))
      assert.ok(narrow.every((line) => line.length < 12))
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
    assert.ok(!(await run('doctor', 80, { env: { NO_COLOR: '1' } })).stdout.includes(escape))
  })
})
