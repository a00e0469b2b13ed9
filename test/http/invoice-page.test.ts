import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { exportedLines } from '../invoices/sellers.ts'
import { createPayment, settle, startPayerService } from '../pages/payer-service.ts'
import { sumsOf } from './invoice-sums.ts'
import { apiToken, type Service } from './service.ts'

const script = '<script>alert(1)</script>'

let service: Service
before(async () => {
  service = await startPayerService({
    invoices: { seller: { name: `Shop ${script}`, note: `${'word '.repeat(99)}end4` } },
  })
})
after(() => service[Symbol.asyncDispose]())

test('57: a script in any name is text on the page of the document', async () => {
  const amount = 5_000
  const payment = await createPayment(service, { amount, currency: 'EUR' })
  const invoice = await service.core.invoices.issue(payment.id, {
    lines: [{ description: `Tea ${script}`, amount }],
    buyer: { name: `"><img src=x onerror=alert(1)> ${script}`, address: [script] },
  })
  const answer = await fetch(`${service.listening.url}/billing/invoices/${invoice.id}?lang=en`)
  const page = await answer.text()
  assert.equal(answer.status, 200)
  assert.ok(!page.includes('<script') && !page.includes('<img'))
  assert.ok(page.includes('Tea &lt;script&gt;alert(1)&lt;/script&gt;'))
  assert.ok(page.includes('<meta name="robots" content="noindex" />'))
  assert.ok(page.includes('This is a test. It is about no real money.'))
  const policy = answer.headers.get('content-security-policy') ?? ''
  assert.match(policy, /^default-src 'none'; style-src 'sha256-/)
  assert.ok(!policy.includes('script-src') && !policy.includes('unsafe'))
  assert.equal(answer.headers.get('cache-control'), 'no-store')
})

test('what a document may hold stands on its page, whole', async () => {
  const amount = 5_000
  const payment = await createPayment(service, { amount, currency: 'EUR' })
  const long = (end: string, length: number) => `${'word '.repeat(length / 5 - 1)}${end}`
  const invoice = await service.core.invoices.issue(payment.id, {
    lines: [{ description: long('end1', 500), amount }],
    buyer: { email: `${'a'.repeat(240)}@end2.example`, address: [long('end3', 200)] },
  })
  const answer = await fetch(`${service.listening.url}/billing/invoices/${invoice.id}?lang=en`)
  const page = await answer.text()
  for (const end of ['end1', 'end2.example', 'end3', 'end4']) assert.ok(page.includes(end), end)
})

test('what was refunded stands on the page and in the export, with what is left of it', async () => {
  const amount = 50_000
  const payment = await createPayment(service, { amount, currency: 'EUR' })
  const { id, number } = await service.core.invoices.issue(payment.id)
  const page = async (language: string) => {
    const { url } = service.listening
    const answer = await fetch(`${url}/billing/invoices/${id}?lang=${language}`)
    const text = await answer.text()
    const [, stamp] = /class="stamp">([^<]+)</.exec(text) ?? []
    return [...(stamp === undefined ? [] : [stamp]), ...sumsOf(text)]
  }
  const exported = async (format: 'csv' | 'jsonl') => {
    const lines = await exportedLines(service.core, format, { test: true })
    return lines.find((line) => line.includes(number ?? '-')) ?? ''
  }
  const inTable = async () => (await exported('csv')).split(',').slice(8, 11)
  const inJson = async () => {
    const { total, credited } = JSON.parse(await exported('jsonl')) as Record<string, unknown>
    return { total, credited }
  }
  assert.deepEqual(await page('en'), ['Total €500.00', 'To pay €500.00'])
  await settle(service, payment.id, 'success')
  assert.deepEqual(await page('en'), ['Paid', 'Total €500.00'])
  assert.deepEqual(await inTable(), ['EUR', '500.00', '0.00'])

  await service.core.refunds.create(payment.id, { amount: 12_050 })
  assert.deepEqual(await page('en'), [
    'Partly refunded',
    'Total €500.00',
    'Paid back \u2212€120.50',
    'Left €379.50',
  ])
  assert.deepEqual(await page('uk'), [
    'Частково повернено',
    'Разом 500,00 EUR',
    'Повернено \u2212120,50 EUR',
    'Залишок після повернень 379,50 EUR',
  ])
  assert.deepEqual(await inTable(), ['EUR', '500.00', '120.50'])
  assert.deepEqual(await inJson(), { total: 50_000, credited: 12_050 })

  await service.core.refunds.create(payment.id)
  assert.deepEqual(await page('en'), [
    'Refunded',
    'Total €500.00',
    'Paid back \u2212€500.00',
    'Left €0.00',
  ])
  assert.deepEqual(await inTable(), ['EUR', '500.00', '500.00'])
  assert.deepEqual(await inJson(), { total: 50_000, credited: 50_000 })
})

test('an id that no document has, or that is none, is a page that says so', async () => {
  for (const id of [newUuid(), 'x', '%00']) {
    const answer = await fetch(`${service.listening.url}/billing/invoices/${id}?lang=uk`)
    assert.equal(answer.status, 404, id)
    assert.match(await answer.text(), /Такого рахунку немає/)
  }
})

test('the management API issues, shows, voids and exports documents', async () => {
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${service.listening.url}/billing/api${path}`, {
      ...init,
      headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    })
  const payment = await createPayment(service, { amount: 700, currency: 'EUR' })
  const body = JSON.stringify({ buyer: { name: '=1+1', tax_id: 'UA1' } })
  const issued = await api(`/payments/${payment.id}/invoice`, { method: 'POST', body })
  assert.equal(issued.status, 201)
  const { id, buyer, total, issued_at: at } = (await issued.json()) as Record<string, unknown>
  assert.deepEqual(buyer, { name: '=1+1', tax_id: 'UA1' })
  assert.equal(total, 700)
  const again = { method: 'POST', body: JSON.stringify({ buyer: { name: 'x' } }) }
  assert.equal((await api(`/payments/${payment.id}/invoice`, again)).status, 409)
  for (const same of [String(id), String(id).toUpperCase()]) {
    const found = (await (await api(`/invoices/${same}`)).json()) as Record<string, unknown>
    assert.equal(found['id'], id)
  }
  const path = `/payments/${payment.id.toUpperCase()}/invoice`
  const repeated = { method: 'POST', body: JSON.stringify({ id: String(id).toUpperCase() }) }
  assert.equal((await api(path, repeated)).status, 201, 'the same id, in capitals')
  const month = String(at).slice(0, 7)
  const table = await api(`/invoices/export?month=${month}&test=true`)
  const disposition = table.headers.get('content-disposition')
  assert.equal(disposition, `attachment; filename="invoices-test-${month}.csv"`)
  assert.match(table.headers.get('content-type') ?? '', /^text\/csv/)
  assert.match(await table.text(), /,'=1\+1,UA1,/)
  assert.doesNotMatch(await (await api(`/invoices/export?month=${month}`)).text(), /UA1/)
  const { data: actions } = await service.core.operators.actions({ limit: 100 })
  const exported = actions.filter(({ action }) => action === 'exportInvoices')
  assert.deepEqual(
    exported.map(({ operator, via }) => [operator, via]),
    [
      ['api', 'api'],
      ['api', 'api'],
    ],
  )
  const listed = async (test: boolean) =>
    JSON.stringify(await (await api(`/invoices?test=${test}`)).json()).includes(String(id))
  assert.deepEqual([await listed(true), await listed(false)], [true, false])
  assert.equal((await api('/invoices/export?month=nope')).status, 400)
  const voiding = { method: 'POST' }
  assert.equal((await api(`/invoices/${String(id)}/void`, voiding)).status, 200)
})
