import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { openTestBilling } from '../../src/testing/index.ts'
import { onPostgres } from '../support/databases.ts'
import { read } from '../tidy/source-files.ts'
import { statesUnder } from './diagrams.ts'

const page = 'docs/5-operations.md'

/** Notes every state that a call is stored in, and every one that it changes to. */
const note = `
  create table moves ("from" text, "to" text);
  create function note() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' then insert into moves values ('[*]', new.state);
    elsif new.state <> old.state then insert into moves values (old.state, new.state);
    end if;
    return null;
  end $$;
  create trigger note after insert or update on billing.webhook_calls
    for each row execute function note()`

onPostgres((engine) => {
  test(`${page} draws every way from state to state that calls take, and no other`, async () => {
    const { url = '', drop } = await engine.create()
    await using ends = new AsyncDisposableStack()
    ends.defer(drop)
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    ends.defer(() => client.end())
    await client.query(note)

    await callsOfEveryKind(url)

    const { rows } = await client.query('select distinct "from", "to" from moves order by 1, 2')
    const drawn = statesUnder(page, read(page), 'The life of a call')
    assert.deepEqual(
      drawn.map(({ from, to }) => `${from} ${to}`).toSorted(),
      rows.map(({ from, to }: { from: string; to: string }) => `${from} ${to}`).toSorted(),
    )
  })
})

/** Applied, ignored, failed for good, each replayed; processed within the request; come too early. */
async function callsOfEveryKind(url: string): Promise<void> {
  const database = { url }
  await using queued = await openTestBilling({
    database,
    listeners: {
      breakDown: {
        on: 'PaymentFailed',
        run: () => {
          throw new Error('always')
        },
      },
    },
  })
  const { billing } = queued
  const paid = await queued.createPayment()
  await queued.send(paid, 'success')
  await queued.send(paid, 'failure')
  await queued.send(await queued.createPayment(), 'failure')
  const { id, ...early } = paid
  const later = { ...early, id: id.replace(/^./, 'f') }
  await queued.send(later, 'success')
  await queued.idle({ retries: 'now' })
  const { data: calls } = await billing.calls.list()
  for (const call of calls) await billing.calls.replay(call.id)
  await queued.idle({ retries: 'now' })
  await queued.createPayment({ id: later.id })
  await queued.idle({ retries: 'now' })

  await using within = await openTestBilling({
    database,
    billing: { queue: { connection: 'sync' } },
    listeners: { breakDown: { on: 'PaymentFailed', run: () => {} } },
  })
  await within.send(await within.createPayment(), 'success')
}
