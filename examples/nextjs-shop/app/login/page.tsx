import { signIn } from '../actions'

export default function Page() {
  return (
    <section className="card">
      <h1>Sign in</h1>
      <p>This shop believes you: any address will do.</p>
      <form action={signIn}>
        <label htmlFor="email">E-mail</label>
        <input id="email" name="email" type="email" autoComplete="email" required />
        <button>Sign in</button>
      </form>
    </section>
  )
}
