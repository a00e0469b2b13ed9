import assert from 'node:assert/strict'
import { join } from 'node:path'
import pg from 'pg'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { newPayment, idle } from '../support/billing.ts'
import { postgres, type TestEngine } from '../support/databases.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { muchPatience } from '../support/patience.ts'
import { freePort, startProcess, type RunningProcess } from '../support/process.ts'
import { sessionEvent, signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { root } from '../tidy/source-files.ts'

/** An example as a real process on a database of its own. */
export interface RunningExample extends AsyncDisposable {
  readonly running: RunningProcess
  readonly url: string
  /** Another process on the same database, to create payments and to look. */
  readonly core: BillingCore
  /** Only on PostgreSQL. */
  readonly databaseUrl: string | undefined
  readonly dataDir: string
}

export async function startExample(
  file: string,
  engine: TestEngine,
  args: readonly string[] = [],
): Promise<RunningExample> {
  const created = engine === postgres ? await postgres.create() : undefined
  const folder = temporaryFolder()
  // Where an app has it that says nothing else.
  const dataDir = join(folder.path, '.quittance')
  if (created === undefined) fillDataFolder(dataDir)
  const running = startProcess(args, {
    cwd: folder.path,
    file: join(root, file),
    env: {
      PORT: String(await freePort()),
      BILLING_DATA_DIR: dataDir,
      STRIPE_SIGNING_SECRET: signingSecret,
      ...(created?.url !== undefined && { DATABASE_URL: created.url }),
    },
  })
  const said = await running.line(/listening on/)
  const database = created?.url === undefined ? { dataDir, attach: true } : { url: created.url }
  const core = createCore({ database }, { patience: muchPatience })
  return {
    running,
    url: said.replace('listening on ', ''),
    core,
    databaseUrl: created?.url,
    dataDir,
    [Symbol.asyncDispose]: async () => {
      await core.close()
      await running.stop()
      await created?.drop()
      folder.remove()
    },
  }
}

/** What its log says, but for work that was late on a busy machine, and is done again. */
export function complaintsOf(stderr: readonly string[]): readonly string[] {
  return stderr.filter((line) => !late.test(line))
}

const late =
  /"message":"(?:timeout exceeded when trying to connect|canceling statement due to \w+ timeout)"/

/** What a query finds in the database of an example. */
export async function rowsOf<Row extends pg.QueryResultRow>(
  { databaseUrl, dataDir }: RunningExample,
  query: string,
): Promise<readonly Row[]> {
  const client = new pg.Client(
    databaseUrl === undefined
      ? { ...(await findEmbedded(dataDir)), user: 'quittance', database: 'quittance' }
      : { connectionString: databaseUrl },
  )
  await client.connect()
  try {
    return (await client.query<Row>(query)).rows
  } finally {
    await client.end()
  }
}

/** How callbacks reach an example: over HTTP, or by a call of its function. */
export type Deliver = (request: Request) => Promise<Response>

/**
 * The promise that every example makes: a callback that Stripe's own package signed, delivered
 * twice, settles the payment and tells once; a forged one is refused. Returns the payment's id.
 */
export async function settlesOnce(core: BillingCore, url: string, deliver: Deliver) {
  const payment = await newPayment(core, { gateway: 'stripe' })
  const body = JSON.stringify(sessionEvent({ payment }), null, 2)
  const post = (secret: string) =>
    deliver(
      new Request(`${url}/billing/webhooks/stripe`, {
        method: 'POST',
        headers: signedHeaders(body, secret),
        body,
      }),
    )
  let unanswered = 0
  for (const [secret, status, message] of [
    ['whsec_of_somebody_else', 403, 'forbidden'],
    [signingSecret, 200, 'ok'],
    [signingSecret, 200, 'ok'],
  ] as const) {
    let answer = await post(secret)
    // A busy machine may not store in time: then a provider sends it again.
    for (; answer.status === 503 && unanswered < 100; unanswered += 1) answer = await post(secret)
    assert.equal(answer.status, status)
    assert.deepEqual(await answer.json(), { message })
  }
  await idle(core)
  const found = await core.payments.get(payment.id)
  assert.equal(found?.status, 'paid')
  assert.deepEqual(
    found.events.map(({ type }) => type),
    ['PaymentSucceeded'],
  )
  const stored = (await core.calls.list()).data.length
  assert.ok(stored >= 2 && stored <= 2 + unanswered, `${stored} calls`)
  return payment.id
}

/**
 * From now on it is noted which transaction writes the rows of a table and those of events. A row's
 * own `xmin` does not say that: behind a savepoint it is that of the savepoint.
 */
export async function noteTransactions(
  example: RunningExample,
  { table, paymentId }: { readonly table: string; readonly paymentId: string },
): Promise<void> {
  await rowsOf(
    example,
    `create table written (source text, payment text, transaction xid8);
     create function note() returns trigger language plpgsql as $$ begin
       insert into written
         values (tg_argv[0], to_jsonb(new) ->> tg_argv[1], pg_current_xact_id());
       return new;
     end $$;
     create trigger note after insert or update on ${table}
       for each row execute function note('listener', '${paymentId}');
     create trigger note after insert on billing.events
       for each row when (new.type = 'PaymentSucceeded') execute function note('event', 'payment_id')`,
  )
}

/** Whether the listener's row and its event come from one transaction, for a row of the table. */
export function isTogether(paymentId: string): string {
  return `exists (select from written as own join written as event using (payment, transaction)
    where own.source = 'listener' and event.source = 'event' and payment = ${paymentId}::text)`
}
