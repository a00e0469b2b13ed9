import assert from 'node:assert/strict'
import { test } from 'node:test'
import { productFiles, withoutComments } from './source-files.ts'
import { isNamed, returnsAllColumns, statementsIn } from './sql-statements.ts'

const files = productFiles()
const namedStatements = statementsIn(files).filter(isNamed)

test('each name begins a statement that is written as a text', () => {
  const users = files.filter(({ text }) => text.includes('/named-statements.ts'))
  const names = users.flatMap(({ path, text }) =>
    [...withoutComments(text).matchAll(/\b(?:named|nameComment)\(['`]/g)].map(() => path),
  )
  assert.ok(names.length > 0)
  assert.deepEqual(namedStatements.map(({ path }) => path).toSorted(), names.toSorted())
})

test('a statement that has a name lists its columns: a running process outlives the next schema', () => {
  const found = namedStatements.filter(returnsAllColumns)
  assert.deepEqual(
    found.map(({ path, text }) => `${path}: ${text.slice(0, 200)}`),
    [],
  )
})

test('these rules find all columns wherever they are returned', () => {
  const breaks = (body: string, before = '') => {
    const code = `${before}\nfunction read(db) {\n  return sql\`\${named('read')}${body}\`\n}\n`
    const statements = statementsIn([{ path: 'src/sample.ts', text: code }]).filter(isNamed)
    assert.equal(statements.length, 1)
    return statements.some(returnsAllColumns)
  }
  assert.ok(breaks('\n select * from billing.events'))
  assert.ok(breaks('select distinct event.* from billing.events as event'))
  assert.ok(breaks('select 1, event.* from billing.events as event'))
  assert.ok(breaks('update billing.events set type = type returning *'))
  assert.ok(
    breaks('with a as (${changed}) select id from a', 'const changed = sql`select * from b`'),
  )
  assert.ok(!breaks('select count(*), 2 * 3 from (select * from unnest(${ids}::uuid[]) as x (id))'))
})
