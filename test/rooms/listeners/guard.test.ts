import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { Tables } from '../../../src/database/tables.ts'
import { newUuid } from '../../../src/kernel/ids.ts'
import { claimEvents } from '../../../src/listeners/claim-events.ts'
import { newGuard, removeGuard, type CommitGuard } from '../../../src/listeners/commit-guard.ts'
import { createListenerRegistry } from '../../../src/listeners/listeners.ts'
import { openBilling, type TestBilling } from '../../support/billing.ts'
import { onAnyDatabase } from '../../support/databases.ts'

onAnyDatabase((engine) => {
  let billing: TestBilling
  before(async () => {
    billing = await openBilling(engine)
  })
  after(() => billing.close())

  /** Claims one event of no payment, behind the guard. */
  const claim = async (db: Kysely<Tables>, guard: CommitGuard | undefined): Promise<string> => {
    const paymentMethod = { id: newUuid(), paymentId: null }
    const eventId = newUuid()
    const claimed = {
      source: { cause: 'poll', callId: null, queue: 'default' } as const,
      claims: [
        {
          eventId,
          dedupKey: eventId,
          type: 'PaymentMethodAttached' as const,
          subject: { paymentMethod } as never,
        },
      ],
    }
    await sql`insert into billing.payment_methods (id, gateway, status, provider_reference)
      values (${paymentMethod.id}::uuid, 'fake', 'attached', ${eventId})`.execute(db)
    await claimEvents(db, [claimed], { listeners: createListenerRegistry(), guard })
    return eventId
  }
  const stored = async (ids: readonly string[]) => {
    const { rows } = await sql<{ id: string }>`
      select id from billing.events where id = any(${[...ids]}::uuid[])`.execute(
      billing.database.db,
    )
    return rows.map(({ id }) => id)
  }
  const guards = async () => {
    const { rows } = await sql`select * from billing.commit_guards`.execute(billing.database.db)
    return rows.length
  }

  test('a transaction with its guard cannot be committed, and keeps no claim', async () => {
    const ids: string[] = []
    await assert.rejects(
      billing.database.transaction(async ({ db }) => {
        ids.push(await claim(db, newGuard(newUuid)))
      }),
      { code: '23503', constraint: 'only_quittance_commits' },
    )
    assert.deepEqual(await stored(ids), [])
    assert.equal(await guards(), 0)
  })

  test('it holds by itself in whatever form the commit comes', async () => {
    const forms = [
      'commit',
      'end transaction',
      'commit and chain',
      '-- ours\ncommit',
      '/* one /* two */ */ commit',
      '/* -- */;;commit',
      'select 1; commit',
      'select 1; commit; begin',
      'savepoint a; commit; select 1',
      'begin; commit',
      'do $$ begin commit; end $$',
      `do $$ begin execute 'commit'; end $$`,
      `prepare transaction 'a'`,
      'set constraints all immediate',
    ]
    for (const form of forms) {
      const ids: string[] = []
      const committing = billing.database.transaction(async ({ db, client }) => {
        ids.push(await claim(db, newGuard(newUuid)))
        await client.query(form)
      })
      await assert.rejects(committing, Error, form)
      assert.equal(ids.length, 1, form)
      assert.deepEqual(await stored(ids), [], form)
      assert.equal(await guards(), 0, form)
    }
  })

  test('once the guard is removed it can, without what was taken back', async () => {
    const [kept, undone] = await billing.database.transaction(async ({ db }) => {
      const guard = newGuard(newUuid)
      const first = await claim(db, guard)
      const second = await claim(db, undefined)
      assert.equal(await removeGuard(db, guard, [second]), true)
      return [first, second] as const
    })
    assert.deepEqual(await stored([kept, undone]), [kept])
    assert.equal(await guards(), 0)
  })

  test('it is missed where somebody rolled back and began again', async () => {
    await billing.database.transaction(async ({ db, client }) => {
      const guard = newGuard(newUuid)
      await claim(db, guard)
      await client.query('rollback; begin')
      assert.equal(await removeGuard(db, guard, []), false)
    })
  })
})
