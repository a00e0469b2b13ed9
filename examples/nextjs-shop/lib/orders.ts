import { randomUUID } from 'node:crypto'
import { product } from './product.ts'
import { getShop } from './shop.ts'

export interface Order {
  readonly id: string
  readonly state: 'new' | 'granted' | 'refunded'
}

export async function addOrder(): Promise<string> {
  const { pool } = await getShop()
  const id = randomUUID()
  await pool.query('insert into orders (id) values ($1)', [id])
  return id
}

export async function findOrder(id: string): Promise<Order | undefined> {
  const { pool } = await getShop()
  const { rows } = await pool.query<Order>('select * from orders where id = $1', [id])
  return rows[0]
}

/** Opens the checkout of an order; where the payer goes. */
export async function payFor(id: string): Promise<string> {
  const { billing } = await getShop()
  const payment = await billing.payments.create({
    // Asked for twice, an order has one payment and one checkout.
    id,
    gateway: 'fake',
    amount: product.amount,
    currency: product.currency,
    description: product.name,
    payable: { type: 'order', id },
    returnUrl: `${billing.origin}/orders/${id}`,
  })
  return payment.checkoutUrl ?? payLink(id)
}

/** It leads to the checkout, or says why it does not. */
export function payLink(id: string): string {
  return `/billing/pay/${id}`
}
