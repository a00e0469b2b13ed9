import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openReview } from '../../src/database/reviews.ts'
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

  const run = (...args: readonly string[]) => money.run('reviews', ...args)
  let references = 0
  const open = async () => {
    const paymentId = await money.create({})
    const reference = `pi_${(references += 1)}`
    const { id } = await money.database.transaction(({ db }) =>
      openReview(
        db,
        {
          gateway: 'scripted',
          reason: 'amount_mismatch',
          paymentId,
          callId: null,
          stated: { reference, amount: 199_000n, currency: 'UAH' },
          expected: { amount: 1_999n, currency: 'UAH' },
        },
        newUuid,
      ),
    )
    const words = `1990.00 UAH (${reference}), 19.99 UAH expected; the payment stays as it was`
    return { id, paymentId, reference, words }
  }
  const failure = ({ code, stderr }: Ending) => {
    assert.equal(code, 1, stderr.join('\n'))
    return stderr.at(-1) ?? ''
  }

  test('reviews list shows what a person must look at, by payment, reason and state', async () => {
    assert.equal(printed(await run('list')), 'No reviews.')
    const { id, paymentId, words } = await open()
    const by = ['--payment', paymentId, '--reason', 'amount_mismatch', '--gateway', 'scripted']
    const [heads, line = '', ...rest] = printed(await run('list', ...by)).split('\n')
    assert.match(heads ?? '', /^id +state +gateway +times +last \(UTC\) +payment +what$/)
    assert.match(
      line,
      new RegExp(`^${id}  open +scripted +1 +\\d\\d-\\d\\d \\d\\d:\\d\\d +${paymentId}`),
    )
    assert.ok(line.endsWith(words), line)
    assert.deepEqual(rest, [])
    assert.equal(printed(await run('list', ...by, '--state', 'handled')), 'No reviews.')
    const { data } = JSON.parse(printed(await run('list', ...by, '--json'))) as { data: Json[] }
    assert.deepEqual(
      data.map((one) => [one['id'], one['in_words']]),
      [[id, words]],
    )
    await open()
    const more = printed(await run('list', '--limit', '1'))
    assert.match(more, /more: --cursor \S+$/)
  })

  test('a reason that there is not is refused, or nothing would seem to be open', async () => {
    const { code, stderr } = await run('list', '--reason', 'amount_missmatch')
    assert.equal(code, 2)
    assert.match(stderr.join('\n'), /no such reason; did you mean amount_mismatch\?/)
  })

  test('reviews show says what was stated and expected, and payments show lists it', async () => {
    const { id, paymentId, reference, words } = await open()
    const shown = printed(await run('show', id))
    for (const line of [
      `review      ${id}`,
      'state       open',
      'reason      amount_mismatch',
      `what        ${words}`,
      `payment     ${paymentId}`,
      `reference   ${reference}`,
      'stated      1990.00 UAH',
      'expected    19.99 UAH',
      'version     1',
    ]) {
      assert.ok(shown.split('\n').includes(line), `${line} in\n${shown}`)
    }
    assert.doesNotMatch(shown, /handled|operator|note|period|null/)
    const json = JSON.parse(printed(await run('show', id, '--json'))) as Json
    assert.equal(json['in_words'], words)
    const payment = printed(await money.run('payments', 'show', paymentId))
    assert.ok(payment.includes(`\nreview      ${id}  open  ${words}`), payment)
    assert.match(failure(await run('show', 'x')), /there is no review "x" — .*reviews list/)
  })

  test('reviews handle wants a note, and refuses the second of two operators', async () => {
    const { id } = await open()
    assert.equal((await run('handle', id)).code, 2)
    const stale = await run('handle', id, '--note', 'refunded', '--if-version', '2')
    assert.match(failure(stale), /has changed: its version is 1 — .*reviews show/)
    const done = ['handle', id, '--note', 'refunded', '--operator', 'olena', '--if-version', '1']
    const first = printed(await run(...done))
    assert.match(first, /^state +handled$/m)
    assert.match(first, /^operator +olena\nnote +refunded$/m)
    assert.equal(printed(await run(...done)), first)
    const second = await run('handle', id, '--note', 'refunded', '--operator', 'taras')
    assert.match(failure(second), /was handled by olena already — /)
    const json = JSON.parse(printed(await run(...done, '--json'))) as Json
    assert.deepEqual([json['state'], json['note']], ['handled', 'refunded'])
    assert.equal((await run('handle', id, '--note', 'x', '--if-version', 'x')).code, 2)
  })
})
