import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { looksLikeToken, newToken } from '../../src/operators/tokens.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onBothDatabases } from '../support/databases.ts'

const inHours = (count: number) => new Date(Date.now() + count * 3_600_000)

function refused(code: string, message: RegExp) {
  return (error: unknown) => {
    assert.ok(isQuittanceError(error))
    assert.equal(error.code, code)
    assert.match(error.message, message)
    return true
  }
}

test('a token is 256 random bits in base64url, and nothing else looks like one', () => {
  const tokens = Array.from({ length: 100 }, newToken)
  assert.equal(new Set(tokens).size, 100)
  for (const token of tokens) {
    assert.ok(looksLikeToken(token))
    assert.equal(Buffer.from(token.slice(4), 'base64url').length, 32)
    for (const odd of [
      token.slice(4),
      `${token}A`,
      token.slice(0, -1),
      ` ${token}`,
      `${token}\n`,
    ]) {
      assert.ok(!looksLikeToken(odd), odd)
    }
  }
})

onBothDatabases((engine) => {
  describe('operators', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    after(() => billing.close())

    test('one is added, found by its token, listed without it, and removed', async () => {
      const { operators } = billing.core
      const { operator, token } = await operators.add({ name: 'olena', role: 'operator' })
      assert.ok(looksLikeToken(token))
      assert.deepEqual(
        [operator.name, operator.role, operator.expiresAt, operator.isExpired],
        ['olena', 'operator', null, false],
      )
      const seen = { name: 'olena', role: 'operator' }
      assert.deepEqual(await operators.find(token), seen)
      const listed = await operators.list()
      assert.deepEqual(listed, [operator])
      assert.ok(!JSON.stringify(listed).includes('hash'))
      assert.deepEqual(await operators.remove('olena'), operator)
      assert.equal(await operators.find(token), undefined)
      assert.deepEqual(await operators.list(), [])
      await assert.rejects(operators.remove('olena'), refused('operator_not_found', /"olena"/))
    })

    test('of a token the database has a hash alone, and another text is nobody’s', async () => {
      const { operators } = billing.core
      const { token } = await operators.add({ name: 'dump', role: 'viewer' })
      const { rows } = await sql<{ row: string; hash: Buffer }>`
        select operators::text as row, token_hash as hash from billing.operators`.execute(
        billing.database.db,
      )
      assert.deepEqual(rows[0]?.hash, createHash('sha256').update(token).digest())
      assert.ok(!rows[0]?.row.includes(token.slice(4)))
      const tail = Buffer.from(token.slice(-16))
      assert.ok(!rows[0]?.row.includes(tail.toString('hex')), 'nor is a part of it, in bytes')
      const last = token.endsWith('A') ? 'B' : 'A'
      for (const other of [newToken(), token.slice(0, -1) + last, token.slice(4), '', 'x']) {
        assert.equal(await operators.find(other), undefined)
      }
      const both = await Promise.all([operators.find(token), operators.find(newToken())])
      assert.deepEqual(both, [{ name: 'dump', role: 'viewer' }, undefined])
      await operators.remove('dump')
    })

    test('whose many tokens are, is asked in one statement at a time', async () => {
      const { operators } = billing.core
      const { token } = await operators.add({ name: 'crowd', role: 'viewer' })
      const { pool } = billing.database
      const open: number[] = []
      const seen = () => open.push(pool.totalCount - pool.idleCount)
      pool.on('acquire', seen)
      const tokens = Array.from({ length: 300 }, (_, at) => (at % 3 === 0 ? token : newToken()))
      const found = await Promise.all(tokens.map((one) => operators.find(one)))
      pool.off('acquire', seen)
      assert.equal(found.filter((one) => one?.name === 'crowd').length, 100)
      assert.ok(open.length > 0 && open.length <= 5, `${open.length} statements`)
      assert.ok(Math.max(...open) <= 1)
      await operators.remove('crowd')
    })

    test('a token that has expired is nobody’s, by the clock of the database', async () => {
      const { operators } = billing.core
      const { token } = await operators.add({
        name: 'guest',
        role: 'operator',
        expiresAt: inHours(1),
      })
      assert.ok(await operators.find(token))
      await sql`update billing.operators set expires_at = statement_timestamp() - interval '1 second'
        where name = 'guest'`.execute(billing.database.db)
      assert.equal(await operators.find(token), undefined)
      assert.equal((await operators.list())[0]?.isExpired, true)
      await operators.remove('guest')
    })

    test('a name is taken once, and those of the settings are nobody’s', async () => {
      const { operators } = billing.core
      const { token } = await operators.add({ name: 'taras', role: 'viewer' })
      const again = operators.add({ name: 'taras', role: 'operator' })
      await assert.rejects(again, refused('operator_exists', /taras/))
      assert.deepEqual(await operators.find(token), { name: 'taras', role: 'viewer' })
      for (const name of ['api', 'read', 'service', 'cli']) {
        const added = operators.add({ name, role: 'operator' })
        await assert.rejects(added, refused('operator_invalid', /^name is reserved$/))
      }
      await operators.remove('taras')
    })

    const wrong = [
      [{ name: 'Olena', role: 'viewer' }, /^name must be/],
      [{ name: 'a'.repeat(65), role: 'viewer' }, /^name must be/],
      [{ name: 'a\u0000', role: 'viewer' }, /^name must be/],
      [{ role: 'viewer' }, /^name is required/],
      [{ name: 'a' }, /^role is required/],
      [{ name: 'a', role: 'admin' }, /^role must be one of viewer, operator/],
      [{ name: 'a', role: 'viewer', expiresAt: new Date(Date.now() - 1) }, /^expiresAt must be in/],
      [{ name: 'a', role: 'viewer', expiresAt: '2030-01-01' }, /^expiresAt must be a Date/],
      [{ name: 'a', role: 'viewer', token: 'mine' }, /unknown field "token"/],
    ] as const
    for (const [input, message] of wrong) {
      test(`refused: ${JSON.stringify(input).slice(0, 70)}`, async () => {
        const added = billing.core.operators.add(input as never)
        await assert.rejects(added, refused('operator_invalid', message))
        assert.deepEqual(await billing.core.operators.list(), [])
      })
    }
  })
})
