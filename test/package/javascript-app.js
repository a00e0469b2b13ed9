// What a stranger's app looks like: the tarball test runs it as a project of its own.
import { createBilling } from 'quittance'

const billing = createBilling({ database: { memory: true } })
const succeeded = new Promise((tell) => {
  billing.on('PaymentSucceeded', 'tellOf', ({ payment }) => {
    tell(payment.id)
  })
})
await billing.work()
const { id } = await billing.payments.create({
  gateway: 'fake',
  amount: 1999,
  currency: 'UAH',
  payable: { type: 'order', id: '42' },
})
const { status } = await billing.fetch(
  new Request(billing.url('billing.webhook', { gateway: 'fake' }), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ payment_id: id, result: 'success' }),
  }),
)
const told = (await succeeded) === id
const payment = await billing.payments.get(id)
await billing.close()
process.stdout.write(`${status} ${told} ${payment.status}\n`)
