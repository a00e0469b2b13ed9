// What the buttons do. A server action is a public endpoint: each looks who is there, and takes from
// the form only what the shopper may choose.
'use server'

import { redirect } from 'next/navigation'
import { isQuittanceError } from 'quittance'
import { getBilling } from '../lib/billing'
import { addOrder, findOrder, type Order } from '../lib/orders'
import { product } from '../lib/product'
import { findShopper, forget, signInAs } from '../lib/shopper'

export async function signIn(form: FormData): Promise<void> {
  const email = fieldOf(form, 'email').trim()
  if (!/^[^\s@]{1,64}@[^\s@]{1,190}$/.test(email)) redirect('/login')
  await signInAs(email)
  redirect('/')
}

export async function signOut(): Promise<void> {
  await forget()
  redirect('/')
}

export async function buy(): Promise<void> {
  const shopper = await findShopper()
  if (shopper === undefined) redirect('/login')
  redirect(await payFor({ id: await addOrder(shopper), shopper }))
}

export async function payAgain(form: FormData): Promise<void> {
  redirect(await payFor(await requireOrder(form)))
}

/** In your shop, see first whether this shopper may have the money back. */
export async function refund(form: FormData): Promise<void> {
  const { id } = await requireOrder(form)
  // The id of the refund comes from the form: pressed twice it is one refund.
  const asked = getBilling().refunds.create(id, {
    id: fieldOf(form, 'refund'),
    // Without an amount, all that is left.
    ...(form.get('part') === 'shipping' && { amount: product.shipping }),
  })
  redirect(await asked.then(() => `/orders/${id}`, explain(id)))
}

/** Empty unless it is a text: a browser may send a file, or nothing. */
function fieldOf(form: FormData, name: string): string {
  const value = form.get(name)
  return typeof value === 'string' ? value : ''
}

async function requireOrder(form: FormData): Promise<Order> {
  const shopper = await findShopper()
  if (shopper === undefined) redirect('/login')
  return (await findOrder(fieldOf(form, 'order'), shopper)) ?? redirect('/orders')
}

/** Opens the checkout of an order, or finds it open; where the payer goes. */
async function payFor({ id, shopper }: Pick<Order, 'id' | 'shopper'>): Promise<string> {
  const billing = getBilling()
  const created = billing.payments.create({
    // Asked for twice, an order has one payment and one checkout.
    id,
    gateway: 'fake', // needs no account; with the settings of another one only this name changes
    amount: product.amount,
    currency: product.currency,
    description: product.name,
    payable: { type: 'order', id },
    customer: { email: shopper },
    returnUrl: `${billing.origin}/orders/${id}`,
  })
  // The link leads to the checkout, or says why it does not.
  return created.then(({ checkoutUrl }) => checkoutUrl ?? `/billing/pay/${id}`, explain(id))
}

/**
 * Where the shopper goes after an error of Quittance's, such as `checkout_unknown`: the provider has
 * not answered, and the order page shows what comes.
 */
function explain(id: string): (error: unknown) => string {
  return (error) => {
    if (!isQuittanceError(error)) throw error
    console.error(error.message)
    return `/orders/${id}?fault=${error.code}`
  }
}
