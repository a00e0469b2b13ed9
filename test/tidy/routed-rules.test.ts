import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'libpg-query'
import { faultsIn } from './routed-rules.ts'

const passing = new Set(['statement_timestamp', 'now', 'to_char'])
const known = { isImmutable: (name: string) => !passing.has(name) }

/** A statement that breaks each rule, and one that says the same and breaks none. */
const statements: Readonly<Record<string, readonly (readonly [broken: string, right: string])[]>> =
  {
    'RETURNING asks for the time': [
      [
        'update a set b = 1 returning c, statement_timestamp() as at',
        'with changed as (update a set b = 1 returning c) select c, statement_timestamp() from changed',
      ],
      ['delete from a returning c < current_timestamp', 'delete from a returning c'],
      ['insert into a values (1) returning to_char(b, $1)', 'insert into a values (1) returning b'],
    ],
    'RETURNING of an INSERT has a subquery': [
      [
        'insert into a select 1 returning id, exists (select from b where b.id = a.id)',
        'with a as (insert into a select 1 returning id) select id, exists (select from b) from a',
      ],
    ],
    'ON CONFLICT asks for the time': [
      [
        'insert into a (b) values (1) on conflict (b) do update set at = statement_timestamp()',
        'insert into a (b) values (1) on conflict (b) do update set at = excluded.at',
      ],
      [
        'insert into a (b) values (1) on conflict (b) do update set c = 1 where a.at < now()',
        'insert into a (b) values (1) on conflict (b) do update set c = 1 where a.at < excluded.at',
      ],
    ],
    'ON CONFLICT has a subquery': [
      [
        'insert into a (b) values (1) on conflict (b) do update set c = array(select 1)',
        'insert into a (b) values (1) on conflict (b) do update set c = excluded.c',
      ],
    ],
    'ON CONFLICT has a parameter': [
      [
        'insert into a (b) select unnest($1::int[]) on conflict (b) do update set c = $2',
        `insert into a (b) select unnest($1::int[]) on conflict (b) do update set c = 'service'`,
      ],
    ],
    'VALUES has a subquery': [
      [
        'insert into a (b) values ((select max(b) from c))',
        'insert into a (b) select max(b) from c',
      ],
    ],
    'INSERT with ON CONFLICT selects from its own table': [
      [
        'insert into a (b) select max(b) from a on conflict (b) do nothing',
        `insert into a (b) with top as materialized (select max(b) as b from a)
        select b from top on conflict (b) do nothing`,
      ],
    ],
    'INSERT selects from another part of the statement': [
      [
        `with moved as (update a set b = 1 returning id)
        insert into c (id) select id from moved where id > 1`,
        'with moved as (update a set b = 1 returning id) insert into c (id) select unnest($1::int[])',
      ],
      [
        `with given as (select * from unnest($1::int[]) as given (id)),
        written as (insert into c (id) select id from given where not exists (select from d))
        select from written`,
        `with written as (insert into c (id) select id from unnest($1::int[]) as given (id)
        where not exists (select from d)) select from written`,
      ],
    ],
    'a change asks for the time in CASE or COALESCE': [
      [
        'update a set since = coalesce(since, statement_timestamp())',
        'update a set since = least(since, statement_timestamp())',
      ],
      [
        'update a set at = case when b then statement_timestamp() end',
        'update a set at = case when b then clock.at end from (select statement_timestamp() as at) clock',
      ],
    ],
  }

for (const [fault, pairs] of Object.entries(statements)) {
  test(`found: ${fault}`, async () => {
    for (const [broken, right] of pairs) {
      assert.deepEqual(faultsIn(await parse(broken), known), [fault], broken)
      assert.deepEqual(faultsIn(await parse(right), known), [], right)
    }
  })
}
