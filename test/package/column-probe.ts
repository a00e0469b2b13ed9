/** Prints what the surfaces of this tree show of a payment, as JSON. The database is empty at first. */
import { createBilling } from '../../src/index.ts'
import { consolePages } from '../console/console-pages.ts'

const billing = createBilling({
  database: { url: process.env['DATABASE_URL'] ?? '' },
  api: { authenticate: () => ({ name: 'probe', role: 'operator' }) },
})
await billing.start()
const payment = await billing.payments.create({
  gateway: 'fake',
  amount: 100,
  currency: 'EUR',
  payable: { type: 'order', id: '1' },
})
const origin = 'https://shop.example'
const api = await billing.fetch(new Request(`${origin}${billing.apiPath}/payments/${payment.id}`))
const pages = consolePages(billing)
const page = await pages.get(`/payments/${payment.id}`)
const csv = await pages.get('/payments/export')
await billing.close()
process.stdout.write(
  JSON.stringify({ id: payment.id, api: await api.json(), csv: csv.html, console: page.text }),
)
