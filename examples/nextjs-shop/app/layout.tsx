// A whole shop: a login, a product, its checkout, orders, refunds. It takes payments at the fake
// gateway, so it needs no account.
//
// In a project of your own:    npm install quittance pg
// Copy the files of this folder to the same places, then:    npx next dev
import type { Metadata } from 'next'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { findShopper } from '../lib/shopper'
import { signOut } from './actions'
import './style.css'

export const metadata: Metadata = { title: 'Paper & Sons' }

export default async function Layout({ children }: { readonly children: ReactNode }) {
  const shopper = await findShopper()
  return (
    <html lang="en">
      <body>
        <header>
          <Link href="/" className="brand">
            Paper &amp; Sons
          </Link>
          <nav>{shopper === undefined ? <Link href="/login">Sign in</Link> : <Account />}</nav>
        </header>
        <main>{children}</main>
        <footer>{shopper === undefined ? 'Books about paper' : `Signed in as ${shopper}`}</footer>
      </body>
    </html>
  )
}

function Account() {
  return (
    <>
      <Link href="/orders">Orders</Link>
      <form action={signOut}>
        <button className="plain">Sign out</button>
      </form>
    </>
  )
}
