import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import { invoiceSchema } from '../../src/wire/invoice.ts'
import { idle, sendFake, unhurried } from '../support/billing.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deployOpen, type OpenDeployment } from '../support/deployment.ts'
import type { Ending } from '../support/process.ts'

const config = `export default {
  invoices: { seller: { name: 'Under the Linden Café', tax_id: '1234567890' }, due_days: 14 },
}`

function printed({ code, stdout, stderr }: Ending): string {
  assert.equal(code, 0, stderr.join('\n') + stdout.join('\n'))
  return stdout.join('\n')
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let core: BillingCore
  before(async () => {
    deployment = await deployOpen(engine)
    writeFileSync(join(deployment.cwd, 'quittance.config.js'), config)
    core = createCore({ database: { url: deployment.env['DATABASE_URL'] ?? '' } }, unhurried)
  })
  after(async () => {
    await core.close()
    await deployment.remove()
  })

  const command = (...args: readonly string[]) =>
    runHosted(args, { cwd: deployment.cwd, env: deployment.env })
  const run = (...args: readonly string[]) => command('invoices', ...args)
  /** Here, for that costs less than a command. */
  const charge = async () => {
    const payable = { type: 'order', id: '42' }
    const terms = { gateway: 'fake', payable, amount: 125_000, currency: 'EUR' }
    return (await core.payments.create(terms)).id
  }
  const pay = async (id: string) => {
    await core.work()
    await sendFake(core, id, 'success')
    await idle(core)
  }
  const monthOf = (invoice: { readonly issued_at: string }) => invoice.issued_at.slice(0, 7)
  const failed = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual(stdout, [])
    return [code, stderr.join('\n')] as const
  }

  test('a document is issued, shown, exported and voided, in words and as JSON', async () => {
    const payment = await charge()
    const lines = JSON.stringify([
      { description: 'Ethiopia\u202e Yirgacheffe', quantity: 2, amount: 134_000 },
      { description: 'Discount', amount: -9_000 },
    ])
    const buyer = JSON.stringify({ name: '=1+1', address: ['7 Horodotska St'], taxId: 'UA1' })
    const text = printed(await run('issue', payment, '--lines', lines, '--buyer', buyer))
    assert.match(text, /^number +TEST-INV-\d{4}-0001$/m)
    assert.match(text, /^status +issued$/m)
    assert.match(text, /^mode +test$/m)
    assert.match(
      text,
      /^lines\n +2 x Ethiopia\\u\{202e\} Yirgacheffe, 1340\.00 EUR\n +Discount, -90\.00 EUR$/m,
    )
    assert.match(text, /^total +1250\.00 EUR$/m)
    assert.match(text, /^payable +order:42$/m)
    assert.match(text, /^seller +Under the Linden Café$/m)
    assert.match(text, /^buyer +=1\+1$/m)
    assert.match(text, /^due +\d{4}-/m)
    assert.match(text, /^read at +http:.*\/billing\/invoices\/[0-9a-f-]{36}$/m)
    const again = printed(await run('issue', payment, '--json'))
    const invoice = invoiceSchema.parse(JSON.parse(again))
    assert.equal(printed(await run('show', invoice.id)), text)

    const table = printed(await run('export', '--test', '--month', monthOf(invoice))).split('\n')
    assert.equal(table.length, 2)
    assert.match(table[0] ?? '', /^\uFEFFnumber,issuer,status,mode,issued_at,/)
    assert.match(
      table[1] ?? '',
      /^TEST-INV-\d{4}-0001,us,issued,test,.*,EUR,1250\.00,0\.00,'=1\+1,UA1,/,
    )
    const others = printed(await run('export', '--month', monthOf(invoice)))
    assert.equal(others, table[0], 'the head alone: it is of test money')
    const jsonl = printed(
      await run('export', '--test', '--month', monthOf(invoice), '--format', 'jsonl'),
    )
    assert.deepEqual(JSON.parse(jsonl), invoice)

    const voided = printed(await run('void', invoice.id))
    assert.match(voided, /^status +void$/m)
    assert.match(voided, /^voided +\d{4}-/m)
    assert.match(printed(await run('issue', payment)), /^number +TEST-INV-\d{4}-0002$/m)
  })

  test('what was refunded is shown, printed and exported', async () => {
    const payment = await charge()
    const invoice = invoiceSchema.parse(JSON.parse(printed(await run('issue', payment, '--json'))))
    const { id } = invoice
    await pay(payment)
    const facts = async () => {
      const text = printed(await run('show', id))
      const lines = text.split('\n').map((line) => line.replaceAll(/ +/g, ' '))
      return lines.filter((line) => /^(?:status|total|credited) /.test(line))
    }
    const inTable = async () => {
      const rows = printed(await run('export', '--test', '--month', monthOf(invoice))).split('\n')
      return rows
        .find((row) => row.includes(id))
        ?.match(/,EUR,([^,]*),([^,]*),/)
        ?.slice(1)
    }
    for (const [amount, refunded] of [
      [['--amount', '50050'], '500.50'],
      [[], '1250.00'],
    ] as const) {
      printed(await command('refund', payment, ...amount))
      assert.deepEqual(await facts(), [
        'status paid',
        'total 1250.00 EUR',
        `credited ${refunded} EUR`,
      ])
      assert.deepEqual(await inTable(), ['1250.00', refunded])
    }
  })

  test('what cannot be done is said in a sentence, and the code is not 0', async () => {
    const payment = await charge()
    const unknown = newUuid()
    assert.match((await failed('void', unknown))[1], /there is no document with this id/)
    assert.match((await failed('issue', unknown))[1], /there is no payment with this id/)
    const dear = JSON.stringify([{ description: 'Tea', amount: -1 }])
    assert.match(
      (await failed('issue', payment, '--lines', dear))[1],
      /add up to -0\.01 EUR, not to 1250\.00 EUR/,
    )
    const broken = await failed('issue', payment, '--buyer', '{')
    assert.deepEqual([broken[0], /JSON/.test(broken[1])], [2, true])
    assert.equal((await failed('export'))[0], 2)
    assert.match((await failed('export', '--month', '2026-13'))[1], /must be a month/)
  })
})
