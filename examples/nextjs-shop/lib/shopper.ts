// A stub of a login: whoever types an address is that shopper. In your app this is your login.
import { cookies } from 'next/headers'

const name = 'shopper'

/** Who is signed in: an address, or undefined. */
export async function findShopper(): Promise<string | undefined> {
  return (await cookies()).get(name)?.value
}

export async function signInAs(shopper: string): Promise<void> {
  const secure = process.env.APP_URL?.startsWith('https:') ?? false
  ;(await cookies()).set(name, shopper, { httpOnly: true, sameSite: 'lax', secure })
}

export async function forget(): Promise<void> {
  ;(await cookies()).delete(name)
}
