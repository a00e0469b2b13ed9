// npx openapi-typescript http://localhost:3000/billing/api/openapi.json -o quittance.d.ts
import { randomUUID } from 'node:crypto'
import createClient from 'openapi-fetch'
import type { components, paths } from './quittance.d.ts'

const { QUITTANCE_URL = 'http://localhost:3000', BILLING_API_TOKEN = '' } = process.env
const quittance = createClient<paths>({
  baseUrl: `${QUITTANCE_URL}/billing/api`,
  headers: { authorization: `Bearer ${BILLING_API_TOKEN}` },
})

// Store the id with the order before you ask: asked again with it, nothing is made twice.
const { data: payment, error } = await quittance.POST('/payments', {
  body: {
    id: randomUUID(),
    gateway: 'fake',
    amount: 1999, // minor units: 19.99
    currency: 'EUR',
    payable: { type: 'order', id: '42' },
  },
})
if (error !== undefined) throw new Error(`${error.code ?? 'refused'}: ${error.message}`)
console.log(`pay order ${payment.payable.id} at ${payment.checkout_url}`)

const path = { id: payment.id }
const { data: found } = await quittance.GET('/payments/{id}', { params: { path } })
console.log(`it is ${found?.status}`)

type Paid = components['schemas']['PaymentSucceededEvent']

/** What a webhook says; the payment is as it stands now, so its status is what counts. */
export function standing({ data: { payment } }: Paid) {
  return `${payment.payable.type} ${payment.payable.id} is ${payment.status}`
}
