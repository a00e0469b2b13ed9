import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nameComment, nameOf } from './named-statements.ts'
import { schemaNameFault, schemaOf } from './schema.ts'

test('a statement of the code names the tables of the schema', () => {
  const { textOf } = schemaOf('t1')
  for (const [written, sent] of [
    [
      'select billing.payments.id from billing.payments where note = $1',
      'select "t1".payments.id from "t1".payments where note = $1',
    ],
    ['select from "billing"."payments"', 'select from "t1"."payments"'],
    ["select to_regclass('billing.payments')", `select to_regclass('"t1".payments')`],
    ["select 'billing'::regnamespace", `select '"t1"'::regnamespace`],
    ['create schema billing', 'create schema "t1"'],
    ['select billings.x, my_billing.y from quittance', undefined],
    ['listen quittance_calls', undefined],
  ] as const) {
    assert.equal(textOf(written), sent ?? written)
    assert.equal(textOf(written), textOf(written))
    assert.equal(schemaOf('billing').textOf(written), written)
  }
})

test('a statement is prepared for each schema under a name of its own', () => {
  const written = `${nameComment('find-payments')}select from billing.payments`
  const names = ['t1', 't2', 'billing'].map((name) => nameOf(schemaOf(name).textOf(written)))
  assert.deepEqual(names, ['find-payments@t1', 'find-payments@t2', 'find-payments'])
})

test('each schema has channels of its own', () => {
  const channels = ['billing', 't1'].map((name) => schemaOf(name).channel('quittance_feed'))
  assert.deepEqual(channels, ['quittance_feed', 'quittance_feed_t1'])
})

test('a statement of any length, and any number of statements, are renamed', () => {
  const { textOf } = schemaOf('t1')
  const written = (at: number) => `select ${'$1, '.repeat(at * 2)}1 from billing.payments`
  for (let at = 0; at < 3_000; at += 1) {
    assert.equal(textOf(written(at)), written(at).replace('billing', '"t1"'))
  }
})

test('a name that the server would read otherwise, or that others use, is refused', () => {
  for (const name of ['billing', 't1', '_shop', 'order', 'a'.repeat(30)]) {
    assert.equal(schemaNameFault(name), undefined)
  }
  for (const name of ['', 'Shop', 'a-b', '1st', 'a'.repeat(31), 'pg_shop', 'a"b', 'магазин']) {
    assert.match(schemaNameFault(name) ?? '', /^must be 1 to 30 small letters/)
  }
  assert.equal(schemaNameFault('public'), 'must not be public')
})
