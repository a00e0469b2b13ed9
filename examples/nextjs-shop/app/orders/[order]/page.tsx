import { randomUUID } from 'node:crypto'
import { notFound, redirect } from 'next/navigation'
import type { ReactNode } from 'react'
import { getBilling } from '../../../lib/billing'
import { findOrder, type Order } from '../../../lib/orders'
import { price, product } from '../../../lib/product'
import { findShopper } from '../../../lib/shopper'
import { payAgain, refund } from '../../actions'
import { standing } from '../standing'
import { Waiting } from './waiting'

interface Props {
  readonly params: Promise<{ readonly order: string }>
  readonly searchParams: Promise<{ readonly fault?: string }>
}

/** Where the payer comes back to. The callback may be faster or slower than the payer. */
export default async function Page({ params, searchParams }: Props) {
  const shopper = await findShopper()
  if (shopper === undefined) redirect('/login')
  const order = await findOrder((await params).order, shopper)
  if (order === undefined) notFound()
  // The address may come from anybody: only what looks like one of our codes is shown.
  const { fault = '' } = await searchParams
  return (
    <section className="card">
      <h1>Your order</h1>
      {/^[a-z_]+$/.test(fault) && <p role="alert">That did not work ({fault}).</p>}
      <dl>
        <dt>Book</dt>
        <dd>{product.name}</dd>
        <dt>Price</dt>
        <dd>{price(order.amount)}</dd>
        <dt>Status</dt>
        <dd>
          <span className="badge">{standing(order)}</span>
        </dd>
      </dl>
      {order.state === 'new' ? <Unpaid id={order.id} /> : <Paid order={order} />}
    </section>
  )
}

async function Unpaid({ id }: { readonly id: string }) {
  const payment = await getBilling().payments.find(id)
  return (
    <>
      <p>
        {payment?.status === 'failed' ? 'The payment was declined.' : 'Not paid yet.'} This page
        shows it once your payment is there.
      </p>
      <form action={payAgain}>
        <input type="hidden" name="order" value={id} />
        <button>Pay</button>
      </form>
      <Waiting />
    </>
  )
}

function Paid({ order: { id, amount, refunded, state } }: { readonly order: Order }) {
  if (state === 'taken back') return <p>All of your money is on its way back.</p>
  return (
    <>
      <p>Paid. Enjoy the book!</p>
      {refunded > 0 && <p>{price(refunded)} went back to you.</p>}
      {refunded === 0 && (
        <Refund id={id} part="shipping">
          It came late: refund the shipping, {price(product.shipping)}
        </Refund>
      )}
      <Refund id={id} part="all">
        Send it back: refund {price(amount - refunded)}
      </Refund>
    </>
  )
}

interface RefundProps {
  readonly id: string
  readonly part: 'shipping' | 'all'
  readonly children: ReactNode
}

function Refund({ id, part, children }: RefundProps) {
  return (
    <form action={refund}>
      <input type="hidden" name="order" value={id} />
      <input type="hidden" name="refund" value={randomUUID()} />
      <button className="quiet" name="part" value={part}>
        {children}
      </button>
    </form>
  )
}
