import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { onPostgres } from '../support/databases.ts'
import type { Ending } from '../support/process.ts'
import { deployMoney, type MoneyDeployment } from './money-deployment.ts'

type Json = Record<string, unknown>

function printed({ code, stdout, stderr }: Ending): string {
  assert.equal(code, 0, stderr.join('\n'))
  return stdout.join('\n')
}

onPostgres((engine) => {
  let money: MoneyDeployment
  before(async () => {
    money = await deployMoney(engine)
  })
  after(() => money[Symbol.asyncDispose]())

  const find = (...args: readonly string[]) => money.run('find', ...args)

  test('find shows what has a text, and by what; words need no quotes', async () => {
    const id = await money.create({})
    const [heads, line = '', ...rest] = printed(await find(id)).split('\n')
    assert.match(heads ?? '', /^id +what +by +created \(UTC\) +payment$/)
    assert.match(line, new RegExp(`^${id}  payment +id +\\d\\d-\\d\\d \\d\\d:\\d\\d +pending, `))
    assert.deepEqual(rest, [])
    const { data } = JSON.parse(printed(await find(id, '--json'))) as {
      readonly data: readonly Json[]
    }
    assert.deepEqual(
      data.map((hit) => [hit['id'], hit['kind'], hit['by']]),
      [[id, 'payment', 'id']],
    )
    const nothing =
      'Nothing has this id, reference, or amount and day. Inside callbacks: --in-calls'
    assert.equal(printed(await find('987.65', 'UAH', 'today')), nothing)
  })

  test('find --in-calls shows callbacks that contain a text, and how far it looked', async () => {
    const id = newUuid()
    await money.database.pool.query(
      `insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload, state,
         processed_at)
       values ($1, 'scripted', 'default', '/', '{}', 'json', '{"note":"needle"}', 'processed', now())`,
      [id],
    )
    const [heads, line = '', end = ''] = printed(await find('--in-calls', 'needle')).split('\n')
    assert.match(heads ?? '', /^id +gateway +state +received \(UTC\)/)
    assert.match(line, new RegExp(`^${id}  scripted +processed`))
    assert.match(end, /^Looked back to \d{4}-/)
    const none = printed(await find('--in-calls', 'no needle', '--since', '2026-01-01T00:00Z'))
    assert.equal(none, 'None was found. Looked back to 2026-01-01T00:00:00.000Z.')
    const shown = JSON.parse(printed(await find('--in-calls', 'needle', '--json'))) as Json
    assert.deepEqual(Object.keys(shown), ['data', 'next_cursor', 'looked_back_to'])
  })

  test('what cannot be looked for fails with a sentence', async () => {
    const { code, stderr } = await find(' ')
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /text must be text of 1 to 500 characters/)
  })
})
