import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { sql } from 'kysely'
import { createCore } from '../../src/billing/create-core.ts'
import { deleteEndedSessions } from '../../src/database/operator-sessions.ts'
import { secret } from '../../src/kernel/secret.ts'
import {
  beginSession,
  endSession,
  endSessionsOf,
  findSession,
  proveSession,
  type SettingOperator,
} from '../../src/operators/sessions.ts'
import { hashOf } from '../../src/operators/tokens.ts'
import { openBilling, unhurried, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase, onPostgres } from '../support/databases.ts'

const api: SettingOperator = { name: 'api', role: 'operator', token: secret('hunter2') }

onAnyDatabase((engine) => {
  describe('sessions of operators', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    after(() => billing.close())

    let operatorId: string
    let token: string
    beforeEach(async () => {
      const { db } = billing.database
      await sql`delete from billing.operators`.execute(db)
      await sql`delete from billing.operator_sessions`.execute(db)
      const added = await billing.core.operators.add({ name: 'olena', role: 'operator' })
      operatorId = added.operator.id
      token = added.token
    })

    async function begin(who: Parameters<typeof beginSession>[1] = { operatorId }) {
      const begun = await beginSession(billing.database.db, who)
      assert.equal(begun.kind, 'begun')
      return begun.kind === 'begun' ? begun.id : ''
    }
    const find = (id: string, settings: readonly SettingOperator[] = [api]) =>
      findSession(billing.database.db, id, { settings })
    /** Moves times of all sessions back. */
    const passes = (columns: readonly string[], length: string) => {
      const moved = columns.map(
        (name) => sql`${sql.id(name)} = ${sql.id(name)} - ${length}::interval`,
      )
      return sql`update billing.operator_sessions set ${sql.join(moved)}`.execute(
        billing.database.db,
      )
    }
    const usedAt = async () => {
      const { rows } = await sql<{ used: Date }>`
        select used_at as used from billing.operator_sessions`.execute(billing.database.db)
      return rows[0]?.used.getTime() ?? 0
    }

    test('one is found by its id alone, of which the database has a hash alone', async () => {
      const id = await begin()
      const session = await find(id)
      assert.deepEqual(
        [session?.operator, session?.role, session?.isProved],
        ['olena', 'operator', true],
      )
      assert.equal(Buffer.from(id, 'base64url').length, 32)
      const { rows } = await sql<{ row: string; hash: Buffer }>`
        select s::text as row, id_hash as hash from billing.operator_sessions as s`.execute(
        billing.database.db,
      )
      assert.deepEqual(rows[0]?.hash, createHash('sha256').update(id).digest())
      assert.ok(!rows[0]?.row.includes(id) && !rows[0]?.row.includes(token))
      const other = await begin()
      assert.notEqual(other, id)
      const last = id.endsWith('A') ? 'B' : 'A'
      for (const odd of [id.slice(0, -1) + last, `${id}=`, `${id} `, '', token, 'x']) {
        assert.equal(await find(odd), undefined, odd)
      }
    })

    test('it ends after an hour without use, and not before', async () => {
      const id = await begin()
      await passes(['used_at'], '59 minutes')
      assert.ok(await find(id))
      await passes(['used_at'], '60 minutes')
      assert.equal(await find(id), undefined)
    })

    test('it ends after twelve hours, however much it is used', async () => {
      const id = await begin()
      const session = await find(id)
      const length = (session?.endsAt.getTime() ?? 0) - (session?.createdAt.getTime() ?? 0)
      assert.equal(length, 12 * 3_600_000)
      await passes(['ends_at', 'created_at'], '11 hours 59 minutes')
      assert.ok(await find(id))
      await passes(['ends_at', 'created_at'], '1 minute')
      assert.equal(await find(id), undefined)
    })

    test('a use is written once a minute, and keeps it', async () => {
      const id = await begin()
      await passes(['used_at'], '30 seconds')
      const before = await usedAt()
      await find(id)
      assert.equal(await usedAt(), before)
      await passes(['used_at'], '30 seconds')
      await find(id)
      assert.ok((await usedAt()) > before)
      await passes(['used_at'], '59 minutes')
      assert.ok(await find(id))
      await passes(['used_at'], '59 minutes')
      assert.ok(await find(id), 'the use before was written')
    })

    test('it ends with its token: expired, or removed', async () => {
      const id = await begin()
      const { db } = billing.database
      const expires = (at: string) =>
        sql`update billing.operators set expires_at = statement_timestamp() + ${at}::interval`.execute(
          db,
        )
      await expires('1 minute')
      assert.ok(await find(id))
      // The column has milliseconds, and rounds: what is now may lie half a one ahead.
      await expires('-1 second')
      assert.equal(await find(id), undefined)
      assert.deepEqual(await beginSession(db, { operatorId }), { kind: 'gone' })
      await expires('1 minute')
      assert.ok(await find(id))
      await billing.core.operators.remove('olena')
      assert.equal(await find(id), undefined)
      const { rows } = await sql`select from billing.operator_sessions`.execute(db)
      assert.equal(rows.length, 0)
      assert.deepEqual(await beginSession(db, { operatorId }), { kind: 'gone' })
      await billing.core.operators.add({ name: 'olena', role: 'operator' })
      assert.equal(await find(id), undefined, 'another of the same name does not bring it back')
    })

    test('a sign-out ends one, or all of an operator, and none of another', async () => {
      const { db } = billing.database
      const other = await billing.core.operators.add({ name: 'taras', role: 'viewer' })
      const mine = [await begin(), await begin(), await begin()] as const
      const his = await begin({ operatorId: other.operator.id })
      await endSession(db, mine[0])
      assert.deepEqual([await find(mine[0]), (await find(mine[1]))?.operator], [undefined, 'olena'])
      assert.equal(await endSessionsOf(db, 'olena'), 2)
      for (const id of mine) assert.equal(await find(id), undefined)
      assert.equal((await find(his))?.role, 'viewer')
      assert.equal(await billing.core.operators.signOut('taras'), 1)
      assert.equal(await find(his), undefined)
      assert.ok(await billing.core.operators.find(other.token), 'the token still works')
      await assert.rejects(billing.core.operators.signOut('nobody'), { code: 'operator_not_found' })
    })

    test('its proof holds for 15 minutes, and only its own token renews it', async () => {
      const { db } = billing.database
      const other = await billing.core.operators.add({ name: 'taras', role: 'operator' })
      const id = await begin()
      await passes(['proved_at'], '14 minutes')
      assert.equal((await find(id))?.isProved, true)
      await passes(['proved_at'], '1 minute')
      assert.equal((await find(id))?.isProved, false)
      for (const wrong of [other.token, '', 'hunter2', id, `${token}x`]) {
        assert.equal(await proveSession(db, { id, token: wrong }, [api]), false)
      }
      assert.equal((await find(id))?.isProved, false)
      assert.equal(await proveSession(db, { id, token }, [api]), true)
      assert.equal((await find(id))?.isProved, true)
      await passes(['used_at'], '60 minutes')
      assert.equal(await proveSession(db, { id, token }, [api]), false, 'it has ended')
    })

    test('that of a token of the settings ends once the settings say another', async () => {
      const { db } = billing.database
      const id = await begin(api)
      const session = await find(id)
      assert.deepEqual([session?.operator, session?.role], ['api', 'operator'])
      const changed = { ...api, token: secret('hunter3') }
      for (const settings of [[], [changed], [{ ...api, name: 'read' }]]) {
        assert.equal(await find(id, settings), undefined)
        assert.equal(await proveSession(db, { id, token: 'hunter2' }, settings), false)
      }
      const both = [changed, api]
      assert.equal((await find(id, both))?.operator, 'api')
      await passes(['proved_at'], '1 hour')
      assert.equal(await proveSession(db, { id, token: 'hunter3' }, both), true)
      await passes(['proved_at'], '1 hour')
      assert.equal(await proveSession(db, { id, token: 'hunter3' }, [api]), false)
      const ofRead = { ...changed, name: 'read' }
      assert.equal(await proveSession(db, { id, token: 'hunter3' }, [api, ofRead]), false)
      assert.equal(await proveSession(db, { id, token: 'hunter2' }, [api]), true)
      assert.equal(await billing.core.operators.signOut('api'), 1)
      assert.equal(await find(id), undefined)
    })

    test('a token of the settings, which may be a word, cannot be guessed from the row', async () => {
      const [one, two] = [await begin(api), await begin(api)]
      const { rows } = await sql<{ proof: Buffer }>`
        select token_proof as proof from billing.operator_sessions`.execute(billing.database.db)
      const proofs = rows.map(({ proof }) => proof.toString('hex'))
      assert.equal(new Set(proofs).size, 2, 'the same token is another proof in each session')
      assert.ok(!proofs.includes(hashOf('hunter2').toString('hex')))
      assert.ok((await find(one)) && (await find(two)))
    })

    test('those that have ended are deleted by the pruning, and no others', async () => {
      const { db } = billing.database
      const [idle, old] = [await begin(), await begin()]
      await sql`update billing.operator_sessions set used_at = used_at - interval '1 hour'
        where id_hash = ${hashOf(idle)}`.execute(db)
      await sql`update billing.operator_sessions set ends_at = created_at
        where id_hash = ${hashOf(old)}`.execute(db)
      const kept = await begin()
      await deleteEndedSessions(db)
      const { rows } = await sql<{ hash: Buffer }>`
        select id_hash as hash from billing.operator_sessions`.execute(db)
      assert.deepEqual(rows, [{ hash: hashOf(kept) }])
      await passes(['used_at'], '1 hour')
      await billing.core.prune()
      assert.equal(await usedAt(), 0)
    })
  })
})

onPostgres((engine) => {
  test('a sign-out, a removal and an end in one process hold in the other at once', async () => {
    await using billing = await openBilling(engine)
    await using other = createCore({ database: { url: billing.url ?? '' } }, unhurried)
    const { db } = billing.database
    const { operator, token } = await billing.core.operators.add({ name: 'olena', role: 'viewer' })
    assert.deepEqual(await other.operators.find(token), { name: 'olena', role: 'viewer' })
    const begun = async () => {
      const one = await beginSession(db, { operatorId: operator.id })
      return one.kind === 'begun' ? one.id : ''
    }
    const id = await begun()
    assert.ok(await findSession(db, id, { settings: [] }))
    assert.equal(await other.operators.signOut('olena'), 1)
    assert.equal(await findSession(db, id, { settings: [] }), undefined)
    const next = await begun()
    assert.ok(await findSession(db, next, { settings: [] }))
    await other.operators.remove('olena')
    assert.equal(await findSession(db, next, { settings: [] }), undefined)
    assert.equal(await billing.core.operators.find(token), undefined)
  })

  test('a session that begins while its operator is removed does not outlive it', async () => {
    await using billing = await openBilling(engine)
    const { db } = billing.database
    for (let round = 0; round < 20; round += 1) {
      const { operator } = await billing.core.operators.add({ name: 'olena', role: 'viewer' })
      const begins = Array.from({ length: 4 }, () => beginSession(db, { operatorId: operator.id }))
      await billing.core.operators.remove('olena')
      for (const { kind } of await Promise.all(begins)) assert.match(kind, /^(?:begun|gone)$/)
      const { rows } = await sql`select from billing.operator_sessions`.execute(db)
      assert.equal(rows.length, 0)
    }
  })
})
