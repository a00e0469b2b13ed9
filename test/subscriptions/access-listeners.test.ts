import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql, type Kysely } from 'kysely'
import type { ListenersOption } from '../../src/billing/listeners-option.ts'
import type { Tables } from '../../src/database/tables.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import type { ListenerContext } from '../../src/listeners/listener.ts'
import { openBilling, type TestBilling } from '../support/billing.ts'
import { onPostgres } from '../support/databases.ts'
import { shownIn, shownListeners, type Around } from '../support/shown-listeners.ts'
import { until } from '../support/until.ts'
import { untilBlocked } from '../support/until-blocked.ts'

/** What the shown listeners write of a payable. */
const payables = [
  { path: shownIn[0], type: 'account', table: 'accounts', column: 'open' },
  { path: shownIn[1], type: 'reader', table: 'readers', column: 'access' },
] as const

onPostgres((engine) => {
  describe('access that two subscriptions of one payable give', () => {
    let billing: TestBilling
    let db: Kysely<Tables>
    /** Called once a listener has asked for access. */
    let asked: (() => Promise<void>) | undefined
    const watched: Around = (run) => (event, context: ListenerContext) => {
      const access: ListenerContext['billing']['subscriptions']['access'] = async (payable) => {
        const answer = await context.billing.subscriptions.access(payable)
        await asked?.()
        return answer
      }
      const subscriptions = { ...context.billing.subscriptions, access }
      return run(event, { ...context, billing: { ...context.billing, subscriptions } } as never)
    }
    before(async () => {
      const shown = payables.map(async ({ path }) => {
        const found = await shownListeners(path, 'followAccess', watched)
        return Object.entries(found).filter(([name]) => name.startsWith('followAccess'))
      })
      const listeners: ListenersOption = Object.fromEntries((await Promise.all(shown)).flat())
      billing = await openBilling(engine, { listeners })
      db = billing.database.db
      await sql`create table accounts (id text primary key, open boolean)`.execute(db)
      await sql`create table readers (id text primary key, access boolean)`.execute(db)
      await billing.core.work()
    })
    after(() => billing.close())

    const subscribe = async (type: string, id: string) => {
      const free = { gateway: 'fake', amount: 0, currency: 'USD', every: 'month' } as const
      const made = await billing.core.subscriptions.create({ ...free, payable: { type, id } })
      return made.subscription.id
    }
    const end = (id: string) => billing.core.subscriptions.cancel(id, { at: 'now' })
    const waiting = async () => {
      const { rows } = await sql`
        select from billing.deliveries where state <> 'processed'
        union all select from billing.deferred_events where state <> 'processed'`.execute(db)
      return rows.length
    }
    const told = () => until(async () => (await waiting()) === 0, { what: 'every event is told' })

    for (const { path, type, table, column } of payables) {
      const enter = async () => {
        const id = newUuid()
        await sql`insert into ${sql.table(table)} values (${id}, false)`.execute(db)
        return id
      }
      const isOpen = async (id: string) => {
        const { rows } = await sql<{ open: boolean }>`
          select ${sql.ref(column)} as open from ${sql.table(table)} where id = ${id}`.execute(db)
        return rows[0]?.open
      }

      test(`${path}: the end of the one closes nothing that the other has opened`, async () => {
        const id = await enter()
        const old = await subscribe(type, id)
        await told()
        assert.equal(await isOpen(id), true)
        const other = await subscribe(type, id)
        await end(old)
        await told()
        assert.equal(await isOpen(id), true)
        // What else has this id.
        await subscribe('licence', id)
        await end(other)
        await told()
        assert.equal(await isOpen(id), false)
      })

      test(`${path}: of two that are told at the same time, the later one sees both`, async () => {
        const id = await enter()
        const old = await subscribe(type, id)
        await told()
        const held = Promise.withResolvers<void>()
        asked = () => {
          asked = undefined
          return held.promise
        }
        await end(old)
        await until(async () => asked === undefined, { what: 'the first listener has asked' })
        await subscribe(type, id)
        const second = until(async () => (await waiting()) < 2, { what: 'the second is told' })
        await untilBlocked(db, second)
        held.resolve()
        await told()
        assert.equal(await isOpen(id), true)
      })
    }
  })
})
