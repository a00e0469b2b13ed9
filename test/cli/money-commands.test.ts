import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import type { Ending } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { deployMoney, payable, writeConfig, type MoneyDeployment } from './money-deployment.ts'

type Json = Record<string, unknown>

function parsed({ code, stdout, stderr }: Ending): Json {
  assert.equal(code, 0, stderr.join('\n'))
  return JSON.parse(stdout.join('\n')) as Json
}

/** What was printed, by the words at the beginning of its lines. */
function linesOf({ code, stdout, stderr }: Ending): Readonly<Record<string, string>> {
  assert.equal(code, 0, stderr.join('\n'))
  return Object.fromEntries(stdout.map((line) => [line.slice(0, 12).trim(), line.slice(12)]))
}

/** The line of a failure: the last one, for the log may have said something before. */
function failure({ code, stderr }: Ending): string {
  assert.equal(code, 1, stderr.join('\n'))
  const line = stderr.at(-1) ?? ''
  assert.match(line, /^quittance: .* — /)
  return line
}

onPostgres((engine) => {
  let money: MoneyDeployment
  before(async () => {
    money = await deployMoney(engine)
  })
  after(() => money[Symbol.asyncDispose]())
  const begin = ['payments', 'create', '--gateway', 'scripted', ...payable]
  /** As a poll leaves it, for that costs less than a command. */
  const paid = async (script = {}) => {
    const id = await money.create(script)
    await sql`update billing.payments set status = 'paid' where id = ${id}`.execute(
      money.database.db,
    )
    return id
  }

  test('payment-methods remove removes a saved card', async () => {
    const card = crypto.randomUUID()
    await sql`
      insert into billing.payment_methods (id, gateway, status, provider_reference, brand, last_four)
      values (${card}, 'scripted', 'attached', ${`pm_${card}`}, 'visa', '4242')`.execute(
      money.database.db,
    )
    const removed = await money.run('payment-methods', 'remove', card)
    assert.deepEqual([removed.code, removed.stdout], [0, ['Removed visa 4242.']])
    const { rows } = await sql`select status from billing.payment_methods
      where id = ${card}`.execute(money.database.db)
    assert.deepEqual(rows, [{ status: 'detached' }])
  })

  describe('payments create', () => {
    test('opens the checkout and prints where to pay', async () => {
      const lines = linesOf(await money.run(...begin))
      assert.equal(lines['checkout'], 'open')
      assert.equal(lines['pay at'], `https://checkout.example/${lines['payment']}`)
    })

    test('--save-card and --expires-at are of the payment', async () => {
      const end = ['--save-card', '--expires-at', '2030-01-02T05:04+02:00', '--json']
      const view = parsed(await money.run(...begin, ...end))
      assert.deepEqual([view['save_card'], view['expires_at']], [true, '2030-01-02T03:04:00.000Z'])
    })

    test('--no-checkout asks nobody', async () => {
      const view = parsed(await money.run(...begin, '--no-checkout', '--json'))
      assert.deepEqual([view['checkout'], view['handed_at']], ['none', null])
    })

    test('a checkout that failed: exit code 1, and the line names the payment', async () => {
      const rows = [
        ['refuse', 'refused', /card_declined — See what the provider says/],
        ['lose', 'unknown', /does not answer — Nothing is lost/],
      ] as const
      for (const [checkout, state, pattern] of rows) {
        const ended = await money.run(...begin, '--metadata', JSON.stringify({ checkout }))
        const line = failure(ended)
        assert.match(line, pattern)
        const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(line) ?? []
        const shown = linesOf(await money.run('payments', 'show', id))
        assert.equal(shown['checkout'], state)
        assert.equal(shown['metadata'], JSON.stringify({ checkout }))
        assert.match(shown['error'] ?? '', /^Scripted gateway /)
        assert.match(shown['handed over'] ?? '', /^\d{4}-/)
      }
    })

    test('--payment-method must be a saved card of ours', async () => {
      const card = ['--payment-method', crypto.randomUUID(), '--initiated-by', 'merchant']
      assert.match(failure(await money.run(...begin, ...card)), /--payment-method .* is not known/)
    })

    test('--payment-method charges it at once, and --initiated-by says who asked', async () => {
      const card = crypto.randomUUID()
      await sql`
        insert into billing.payment_methods (id, gateway, status, provider_reference)
        values (${card}, 'scripted', 'attached', 'pm_1')`.execute(money.database.db)
      const options = ['--payment-method', card, '--initiated-by', 'merchant', '--json']
      const view = parsed(await money.run(...begin, ...options))
      assert.deepEqual([view['status'], view['payment_method_id']], ['paid', card])
      assert.match(String(view['provider_reference']), /^ch_merchant_/)
      assert.deepEqual(await money.told(String(view['id'])), ['PaymentSucceeded'])
    })

    test('--return-url must lead to one of BILLING_RETURN_ORIGINS', async () => {
      const args = [...begin, '--return-url', 'https://shop.example/thanks']
      const withOrigins = (origins: string, ...more: readonly string[]) =>
        runHosted([...args, ...more], {
          cwd: money.deployment.cwd,
          env: { ...money.env, BILLING_RETURN_ORIGINS: origins },
        })
      assert.match(failure(await money.run(...args)), /BILLING_RETURN_ORIGINS/)
      const view = parsed(
        await withOrigins('https://other.example, https://shop.example', '--json'),
      )
      assert.equal(view['return_url'], 'https://shop.example/thanks')
      const wrong = failure(await withOrigins('https://shop.example/thanks'))
      assert.match(wrong, /BILLING_RETURN_ORIGINS must be origins .*, got "https/)
    })
  })

  describe('poll', () => {
    test('applies what the provider says and tells the configured listener', async () => {
      const id = await money.create({ poll: 'paid' })
      const lines = linesOf(await money.run('poll', id))
      assert.equal(lines['status'], 'paid')
      assert.equal(lines['standing'], 'paid')
      assert.equal(lines['result'], 'payment:paid applied')
      assert.equal(lines['pay at'], undefined, 'nobody has to pay any more')
      assert.deepEqual(await money.told(id), ['PaymentSucceeded'])
    })

    test('what the provider refuses ends with exit code 1', async () => {
      const id = await money.create({ poll: 'refuse' })
      assert.match(failure(await money.run('poll', id)), /card_declined — Check the API credential/)
      const shown = linesOf(await money.run('payments', 'show', id))
      assert.equal(shown['last poll'], 'Scripted gateway says no: card_declined')
      await sql`update billing.payments set status = 'paid' where id = ${id}`.execute(
        money.database.db,
      )
      const paidSince = linesOf(await money.run('payments', 'show', id))
      assert.equal(paidSince['last poll'], undefined, 'of no interest any more')
    })

    test('what a person must look at is shown, by poll and by payments show', async () => {
      const id = await money.create({ poll: 'unclear' })
      const review = 'needs a review: no_outcome (a new word)'
      assert.equal(linesOf(await money.run('poll', id))['last poll'], review)
      assert.equal(linesOf(await money.run('payments', 'show', id))['last poll'], review)
    })
  })

  test('payments show and calls show have the event that a listener failed for', async () => {
    const id = await money.create({ poll: 'paid', listener: 'fails' })
    assert.equal(linesOf(await money.run('poll', id))['status'], 'paid')
    const call = crypto.randomUUID()
    await sql`
      with call as (
        insert into billing.webhook_calls
          (id, gateway, queue, url, headers, kind, payload, state, payment_id)
        values (${call}, 'scripted', 'default', '/', '{}', 'json', '{}', 'failed', ${id}))
      update billing.payment_transitions set webhook_call_id = ${call}
      where payment_id = ${id}`.execute(money.database.db)
    for (const [thing, shownId] of [
      ['payments', id],
      ['calls', call],
    ] as const) {
      const { stdout } = await money.run(thing, 'show', shownId)
      const at = stdout.findIndex((line) => line.startsWith('deferred'))
      const [event, state, due, from, error] = stdout.slice(at, at + 5)
      assert.match(event ?? '', /^deferred    \d{4}-.*Z  PaymentSucceeded, by poll$/)
      assert.equal(state, '  state     pending, 1 failed attempt')
      assert.match(due ?? '', /^  due       \d{4}-.*Z$/)
      assert.equal(from, `  call      ${call}`)
      assert.equal(error, '  error     in listener teller: Error: the printer is on fire')
    }
    await sql`update billing.deferred_events set state = 'failed', attempts = 3
      where payment_id = ${id}`.execute(money.database.db)
    const shown = linesOf(await money.run('payments', 'show', id))
    assert.deepEqual([shown['state'], shown['due']], ['failed, 3 failed attempts', undefined])
  })

  describe('refund', () => {
    test('gives a part back, then all that is left; payments show has both', async () => {
      const id = await paid()
      const options = ['--amount', '500', '--reason', 'a dent']
      const part = parsed(await money.run('refund', id, ...options, '--json'))
      assert.deepEqual(
        ['type', 'status', 'amount', 'description', 'parent_id'].map((name) => part[name]),
        ['refund', 'paid', 500, 'a dent', id],
      )
      const rest = linesOf(await money.run('billing:refund', id))
      assert.equal(rest['amount'], '14.99 UAH')
      assert.equal(rest['payment'], id)
      const { stdout } = await money.run('payments', 'show', id)
      assert.ok(stdout.includes(`refund      ${String(part['id'])}  paid  5.00 UAH`))
      assert.ok(stdout.includes(`refund      ${rest['refund']}  paid  14.99 UAH`))
      const sums = 'refunded 19.99 UAH, refundable 0.00 UAH'
      assert.ok(stdout.includes(`refunds     ${sums}`), stdout.join('\n'))
      const [headings = '', row = ''] = (await money.run('payments', 'list', '--limit', '1')).stdout
      assert.match(headings, /gateway +refunds$/)
      assert.ok(row.startsWith(`${id}  refunded  `) && row.endsWith(sums), row)
      assert.ok(stdout.includes('status      refunded'))
      const found = (await money.run('find', id)).stdout.join('\n')
      assert.match(found, /refunded, 19\.99 UAH/)
      assert.deepEqual(await money.told(String(part['id'])), ['PaymentRefunded'])
      const shown = linesOf(await money.run('payments', 'show', String(part['id'])))
      assert.deepEqual([shown['refund'], shown['payment']], [part['id'], id])
    })

    test('one that nobody answered names its row, which stays pending', async () => {
      const id = await paid({ refund: 'lose' })
      const line = failure(await money.run('refund', id))
      const [, refund = ''] = /refund ([0-9a-f-]{36}): .* — Do not refund again/.exec(line) ?? []
      const { stdout } = await money.run('payments', 'show', id)
      assert.ok(stdout.includes(`refund      ${refund}  pending  19.99 UAH`))
      assert.ok(stdout.includes('error       Scripted gateway does not answer'))
    })

    test('--id makes it repeatable, a failure too', async () => {
      const id = await paid({ refund: 'fail' })
      const args = ['refund', id, '--id', crypto.randomUUID()]
      assert.match(failure(await money.run(...args)), /refused it \(no_funds\)/)
      const again = await money.run(...args)
      assert.match(failure(again), /refund [0-9a-f-]{36}: .* — See what the provider says/)
      assert.ok(again.stdout.includes('status      failed'))
      const json = await money.run(...args, '--json')
      assert.deepEqual([json.code, json.stderr], [1, []])
      assert.equal((JSON.parse(json.stdout.join('\n')) as Json)['status'], 'failed')
    })
  })

  test('payments cancel cancels a pending payment, and refuses a paid one', async () => {
    const id = await money.create({})
    const view = parsed(await money.run('payments', 'cancel', id, '--json'))
    assert.deepEqual([view['status'], view['checkout']], ['canceled', 'closed'])
    const again = linesOf(await money.run('payments', 'cancel', id))
    assert.equal(again['status'], 'canceled')
    assert.deepEqual(await money.told(id), ['PaymentCanceled'])
    assert.match(failure(await money.run('payments', 'cancel', await paid())), /is paid — Refund/)
  })

  describe('reconcile', () => {
    test('asks about what is due, and says what failed', async () => {
      const late = await money.create({ poll: 'paid' })
      const refused = await money.create({ poll: 'refuse' })
      await money.makeDue([late, refused], 1)
      const ended = await money.run('reconcile', '--json')
      assert.deepEqual(JSON.parse(ended.stdout.join('\n')), {
        polled: 1,
        changed: 1,
        failed: 1,
        repaired: 0,
        unreachable: [],
      })
      assert.equal(ended.code, 1)
      assert.deepEqual(await money.told(late), ['PaymentSucceeded'])
      await money.makeDue([refused], 1)
      const line = failure(await money.run('reconcile'))
      assert.match(line, /1 payment was not asked about — See the reasons above/)
      const { code, stdout, stderr } = await money.run('billing:reconcile')
      assert.deepEqual([code, stderr], [0, []], 'nothing is due any more')
      assert.deepEqual(stdout, ['Asked about 0 payments: 0 changed, 0 failed, 0 events repaired.'])
    })

    test('names a provider that is out of reach: exit code 1', async () => {
      const ids = [await money.create({ poll: 'lose' }), await money.create({ poll: 'lose' })]
      ids.push(await money.create({ poll: 'lose' }))
      await money.makeDue(ids, 1)
      const ended = await money.run('reconcile', '--gateway', 'scripted')
      assert.match(failure(ended), /out of reach: scripted — Check the network/)
      assert.match(ended.stdout[0] ?? '', /^Asked about 0 payments: .* 3 failed/)
    })

    test('--gateway leaves the others alone, and must be one that can be asked', async () => {
      const id = await money.create({ poll: 'paid' })
      await money.makeDue([id], 1)
      const other = parsed(await money.run('reconcile', '--gateway', 'fake', '--json'))
      assert.equal(other['polled'], 0)
      const own = parsed(await money.run('reconcile', '--gateway', 'scripted', '--json'))
      assert.equal(own['changed'], 1)
      const rows = [
        ['stating', /Stating gateway cannot say how a payment stands/],
        ['stripe', /stripe is not configured/],
        ['nowhere', /gateway "nowhere" is not registered; there are /],
      ] as const
      for (const [gateway, pattern] of rows) {
        assert.match(failure(await money.run('reconcile', '--gateway', gateway)), pattern)
      }
    })
  })

  test('a process without a listener that the database knows refuses to apply anything', async () => {
    const id = await paid()
    const open = await money.create({ poll: 'paid' })
    using forgetful = temporaryFolder()
    writeConfig(forgetful.path, { withListener: false })
    const rows = [['poll', open], ['refund', id], ['payments', 'cancel', open], ['reconcile']]
    for (const args of rows) {
      const line = failure(await runHosted(args, { cwd: forgetful.path, env: money.env }))
      assert.match(line, /lacks the listener\(s\) teller \(PaymentCanceled\).* — Register/)
    }
    const shown = linesOf(await money.run('payments', 'show', open))
    assert.equal(shown['status'], 'pending')
  })
})
