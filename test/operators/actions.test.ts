import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import type { RecordActionInput } from '../../src/operators/actions.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'

const made = (id: string, more: Partial<RecordActionInput> = {}): RecordActionInput => ({
  id,
  operator: 'olena',
  via: 'console',
  action: 'refundPayment',
  subject: '0190163d-8694-739b-aea5-966c26f8ad90',
  ...more,
})

onAnyDatabase((engine) => {
  describe('what operators did', () => {
    let billing: TestBilling
    before(async () => {
      billing = await openBilling(engine)
    })
    after(() => billing.close())

    test('the same id is one action, however often and wherever it is pressed', async () => {
      const { operators } = billing.core
      const id = newUuid()
      const pressed = await Promise.all(
        [1, 2, 3, 4].map((press) => operators.recordAction(made(id, { detail: { press } }))),
      )
      assert.deepEqual(pressed.toSorted(), ['known', 'known', 'known', 'recorded'])
      const again = made(id, { operator: 'somebody else', action: 'another' })
      assert.equal(await operators.recordAction(again), 'known')
      const { data } = await operators.actions({ operator: 'olena' })
      assert.equal(data.length, 1)
      assert.equal(data[0]?.action, 'refundPayment')
      assert.equal(data[0]?.outcome, null)
    })

    test('the first outcome that is known stays', async () => {
      const { operators } = billing.core
      const id = newUuid()
      await operators.recordAction(made(id, { operator: 'taras', detail: { amount: 500 } }))
      await operators.endAction(id, '201')
      await operators.endAction(id, '500')
      await operators.endAction(newUuid(), '200')
      const { data } = await operators.actions({ operator: 'taras' })
      const { at, ...action } = data[0] ?? {}
      assert.ok(at instanceof Date)
      assert.deepEqual(action, {
        ...made(id, { operator: 'taras' }),
        detail: { amount: 500 },
        outcome: '201',
      })
    })

    test('pages go from the newest to the oldest, each once, also of one moment', async () => {
      const { operators } = billing.core
      // Ids of callers: their order says nothing.
      const ids = Array.from({ length: 7 }, () => crypto.randomUUID())
      for (const id of ids) {
        const subject = id === ids[0] ? 'first' : null
        await operators.recordAction(made(id, { operator: 'pages', subject }))
      }
      await sql`update billing.operator_actions set at = date_trunc('second', at)
        where operator = 'pages'`.execute(billing.database.db)
      await sql`update billing.operator_actions set at = at - interval '1 minute'
        where subject = 'first'`.execute(billing.database.db)
      const seen: string[] = []
      for (let cursor: string | undefined; ;) {
        const query = { operator: 'pages', limit: 2, ...(cursor !== undefined && { cursor }) }
        const page = await operators.actions(query)
        seen.push(...page.data.map(({ id }) => id))
        if (page.nextCursor === null) break
        cursor = page.nextCursor
      }
      assert.equal(seen.at(-1), ids[0])
      assert.deepEqual(seen.toSorted(), ids.toSorted())
      const bySubject = await operators.actions({ subject: 'first' })
      assert.deepEqual(
        bySubject.data.map(({ id }) => id),
        [ids[0]],
      )
    })

    test('pruning leaves them', async () => {
      const { db } = billing.database
      await sql`update billing.operator_actions set at = at - interval '10 years'`.execute(db)
      const count = sql<{ count: number }>`
        select count(*)::int as count from billing.operator_actions`
      const [before] = (await count.execute(db)).rows
      await billing.core.prune()
      assert.deepEqual((await count.execute(db)).rows, [before])
    })

    const wrong = [
      made('1'),
      made(newUuid(), { operator: '' }),
      made(newUuid(), { operator: 'a\u0000' }),
      made(newUuid(), { via: 'mail' as never }),
      made(newUuid(), { subject: 'x'.repeat(501) }),
      made(newUuid(), { detail: [] as never }),
    ]
    for (const input of wrong) {
      test(`refused: ${JSON.stringify(input).slice(0, 120)}`, async () => {
        await assert.rejects(billing.core.operators.recordAction(input), {
          code: 'operator_invalid',
        })
      })
    }

    test('a list is of what can be asked', async () => {
      const { operators } = billing.core
      await assert.rejects(operators.actions({ who: 'olena' } as never), { code: 'query_invalid' })
      await assert.rejects(operators.actions({ cursor: 'x' }), { code: 'cursor_invalid' })
    })
  })
})
