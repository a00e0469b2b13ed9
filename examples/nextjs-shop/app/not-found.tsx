import Link from 'next/link'

export default function NotFound() {
  return (
    <section className="card">
      <h1>Sorry</h1>
      <p>There is nothing here.</p>
      <Link href="/">To the shop</Link>
    </section>
  )
}
