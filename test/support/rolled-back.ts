import { after, before } from 'node:test'
import type { Kysely } from 'kysely'
import { connect, type Database } from '../../src/database/connect.ts'
import type { Tables } from '../../src/database/tables.ts'
import { silentLog } from '../../src/kernel/log.ts'
import type { TestDatabase, TestEngine } from './databases.ts'

export type OnRows = (db: Kysely<Tables>) => Promise<void>

/** What is thrown at the end of a test that has passed: the transaction must not be committed. */
const passed = new Error('the test has passed')

/**
 * Makes the bodies of tests out of what is done in a transaction, which is rolled back: all of them
 * use one database without rows, and none sees the rows of another. Much quicker than a database
 * each.
 */
export function rollingBack(engine: TestEngine): (test: OnRows) => () => Promise<void> {
  let opened: { readonly database: Database; readonly test: TestDatabase } | undefined
  before(async () => {
    const test = await engine.create()
    const { target } = test
    opened = {
      test,
      database: connect({ target, log: silentLog, poolSize: 1, applicationName: 'tests' }),
    }
  })
  after(async () => {
    await opened?.database.close()
    await opened?.test.drop()
  })
  return (test) => async () => {
    const work = opened?.database.transaction(async ({ db }) => {
      await test(db)
      throw passed
    })
    await work?.catch((error: unknown) => {
      if (error !== passed) throw error
    })
  }
}
