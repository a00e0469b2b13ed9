import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BillingOptions } from '../../src/billing/options.ts'
import { createPayment, settle, startPayerService } from '../pages/payer-service.ts'
import type { Service } from './service.ts'

const readWith = (service: Service) => async (path: string) => {
  const answer = await fetch(`${service.listening.url}${path}`, {
    headers: { 'accept-language': 'en' },
  })
  return { text: await answer.text(), policy: answer.headers.get('content-security-policy') ?? '' }
}
const branded = (brand: BillingOptions['brand']) =>
  startPayerService({ brand, invoices: { seller: { name: 'Seller' } } })

test('every page has the name at its head and in its title, as text', async () => {
  await using service = await branded({ name: 'Чай <b>&\u202e' })
  const read = readWith(service)
  const { id } = await createPayment(service)
  const invoice = await service.core.invoices.issue(id)
  const shown = 'Чай &lt;b&gt;&amp;\\u{202e}'
  for (const path of [
    `return/${id}`,
    `fake/checkout/${id}`,
    `invoices/${invoice.id}`,
    'invoices/x',
    'pay/x',
    'paddle/checkout',
  ]) {
    const { text } = await read(`/billing/${path}`)
    assert.ok(text.includes(`<header><span>${shown}</span></header>`), text)
    assert.ok(text.includes(` · ${shown}</title>`), text)
  }
})

test('a page of nobody in particular has no head', async () => {
  await using service = await branded({})
  const { text, policy } = await readWith(service)('/billing/pay/x')
  assert.equal(/<header>|·/.test(text), false)
  assert.match(policy, /img-src data:;/)
})

test('a logo may load from its own origin and from nowhere else', async () => {
  const name = 'Shop'
  await using remote = await branded({
    name,
    logo: 'https://files.shop.example:8443/a/logo.svg?v="1"',
  })
  const { id } = await createPayment(remote)
  const invoice = await remote.core.invoices.issue(id)
  for (const path of ['pay/x', `invoices/${invoice.id}`]) {
    const { text, policy } = await readWith(remote)(`/billing/${path}`)
    assert.match(policy, /img-src data: https:\/\/files\.shop\.example:8443; /, path)
    const logo = '<img src="https://files.shop.example:8443/a/logo.svg?v=&quot;1&quot;" alt="" />'
    assert.ok(text.includes(logo), path)
  }
  await using inside = await branded({ name, logo: 'data:image/png;base64,iVBORw0KGgo=' })
  const page = await readWith(inside)('/billing/pay/x')
  assert.match(page.policy, /img-src data:; /)
  assert.ok(page.text.includes('<img src="data:image/png;base64,iVBORw0KGgo=" alt="" />'))
})

test('help is offered where something went wrong, on documents, and only there', async () => {
  await using service = await branded({ support: 'help@shop.example' })
  const read = readWith(service)
  const offers = async (path: string) =>
    (await read(path)).text.includes('<a href="mailto:help@shop.example">help@shop.example</a>')
  const { id } = await createPayment(service)
  assert.equal(await offers(`/billing/return/${id}`), false, 'waiting')
  await settle(service, id, 'failure')
  assert.equal(await offers(`/billing/return/${id}`), true, 'declined')
  await settle(service, id, 'success')
  assert.equal(await offers(`/billing/return/${id}`), false, 'paid')
  assert.equal(await offers(`/billing/pay/${id}`), false, 'paid already')
  const other = await createPayment(service)
  assert.equal(await offers(`/billing/fake/checkout/${other.id}`), false)
  assert.equal(await offers(`/billing/fake/checkout/${other.id}?answer=403`), true, 'refused')
  await service.core.payments.cancel(other.id)
  const invoice = await service.core.invoices.issue(id)
  for (const path of [
    `return/${other.id}`,
    `pay/${other.id}`,
    `invoices/${invoice.id}`,
    'invoices/x',
    'pay/x',
    'paddle/checkout',
  ]) {
    assert.equal(await offers(`/billing/${path}`), true, path)
  }
})
