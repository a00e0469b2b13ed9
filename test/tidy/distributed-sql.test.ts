import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { productFiles, withoutComments, type SourceFile } from './source-files.ts'
import {
  asksForEachElement,
  joinsCallsWithPayments,
  statementsIn,
  type SqlStatement,
} from './sql-statements.ts'

// What a PostgreSQL whose tables are spread over several servers refuses. The schema asks for the time
// in its defaults, and what an app tests with runs on one server.
const files = productFiles().filter(
  ({ path }) => !/^src\/(?:database\/migrations|testing)\//.test(path),
)
const statements = statementsIn(files)

type Rule = (statement: SqlStatement) => boolean

function offenders(rule: Rule, among: readonly SqlStatement[] = statements): readonly string[] {
  return among.filter(rule).map(({ path, text }) => `${path}: ${text.trim().slice(0, 200)}`)
}

test('no statement asks for a time that passes while it runs', () => {
  const found = files.filter(({ text }) => withoutComments(text).includes('clock_timestamp('))
  assert.deepEqual(
    found.map(({ path }) => path),
    [],
  )
})

test('calls can be kept elsewhere than payments: no statement names both', () => {
  assert.deepEqual(offenders(joinsCallsWithPayments), [])
})

test('arrays are joined with tables: no subquery asks for each of their elements', () => {
  assert.deepEqual(offenders(asksForEachElement), [])
})

describe('these rules find', () => {
  const breaks = (rule: Rule, code: string, others: readonly SourceFile[] = []) => {
    const sample = { path: 'src/sample.ts', text: code }
    return offenders(rule, statementsIn([sample, ...others])).length > 0
  }

  test('calls and payments in one statement', () => {
    const joined = 'sql`select * from billing.webhook_calls join billing.events on true`'
    assert.ok(breaks(joinsCallsWithPayments, `export const all = ${joined}`))
    const apart = ['billing.webhook_calls', 'billing.events'].map(
      (table, index) => `function get${index}() {\n  return sql<Row>\`select from ${table}\`\n}\n`,
    )
    assert.ok(!breaks(joinsCallsWithPayments, apart.join('\n')))
  })

  test('what is inserted from the same declaration, the same file and another one', () => {
    const using = (before: string, part: string) =>
      `${before}\nasync function read(db) {\n  await sql\`update billing.webhook_calls set x
        where \${one === undefined ? sql\`\` : sql\`and y = \${${part}}\`}\`.execute(db)\n}\n`
    const fragment = 'sql`(select id from billing.payments)`'
    assert.ok(breaks(joinsCallsWithPayments, using(`const paid = ${fragment}`, 'paid')))
    const indirect = `const paid = ${fragment}\nfunction all() {\n  return sql\`any(\${paid})\`\n}`
    assert.ok(breaks(joinsCallsWithPayments, using(indirect, 'all()')))
    const local = `function read(db) {\n  const paid = ${fragment}\n
      return sql\`select from billing.webhook_calls where \${paid}\`\n}`
    assert.ok(breaks(joinsCallsWithPayments, local))
    const other = { path: 'src/other.ts', text: `export const paid = ${fragment}\n` }
    const imported = using(`import { paid, type Paid } from './other.ts'\n`, 'paid')
    assert.ok(breaks(joinsCallsWithPayments, imported, [other]))
    assert.ok(!breaks(joinsCallsWithPayments, using('', 'paid'), [other]))
  })

  test('what is built by calls, with SQL in between', () => {
    const built = (rest: string) =>
      `function select(db) {\n  return db.selectFrom('billing.webhook_calls')${rest}\n}\n`
    assert.ok(!breaks(joinsCallsWithPayments, built('.selectAll()')))
    assert.ok(breaks(joinsCallsWithPayments, built(`.innerJoin('billing.events', 'a', 'b')`)))
    const claims = '.select(sql`array(select dedup_key from billing.events)`)'
    assert.ok(breaks(joinsCallsWithPayments, built(claims)))
  })

  test('a subquery for each element of an array', () => {
    const from = (text: string) => `const found = sql\`${text}\``
    const wanted = 'unnest(${ids}::uuid[], ${[...names]}::text[]) as wanted (id, name)'
    const each = `select (select id from x where x.name = wanted.name) from ${wanted}`
    assert.ok(breaks(asksForEachElement, from(each)))
    const filtered = `select id from ${wanted} where exists (select from x where x.id = wanted.id)`
    assert.ok(breaks(asksForEachElement, from(filtered)))
    const named = `with wanted as (select * from ${wanted}) select wanted.id from wanted
      where not exists (select from x where x.id = wanted.id)`
    assert.ok(breaks(asksForEachElement, from(named)))
    assert.ok(
      breaks(
        asksForEachElement,
        from('select from x where 1 = (select max(y) from unnest(x.ys) as y)'),
      ),
    )
    const inserted = `function find(db) {
  const other = sql\`select from x where x.id = wanted.id\`
      return sql\`select id from ${wanted} where \${a ? sql\`\` : sql\`exists (\${other} and y)\`}\`
}`
    assert.ok(breaks(asksForEachElement, inserted))
    const joined = `with wanted as (select * from ${wanted})
      select wanted.id from wanted join x on x.id = wanted.id where x.y in (select y from z)`
    assert.ok(!breaks(asksForEachElement, from(joined)))
  })
})
