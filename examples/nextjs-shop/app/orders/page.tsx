import Link from 'next/link'
import { redirect } from 'next/navigation'
import { listOrders } from '../../lib/orders'
import { price, product } from '../../lib/product'
import { findShopper } from '../../lib/shopper'
import { standing } from './standing'

export default async function Page() {
  const shopper = await findShopper()
  if (shopper === undefined) redirect('/login')
  const orders = await listOrders(shopper)
  return (
    <>
      <h1>Your orders</h1>
      {orders.length === 0 && <p>None yet.</p>}
      <ul className="orders">
        {orders.map((order) => (
          <li key={order.id}>
            <Link href={`/orders/${order.id}`}>{product.name}</Link>
            <span>{price(order.amount)}</span>
            <span className="badge">{standing(order)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
