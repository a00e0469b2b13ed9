import { QuittanceError } from '../kernel/errors.ts'

const ownMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/**
 * Whether a payer may be sent on to a URL: nobody shall be led from a page of ours to anywhere
 * else than the merchant's sites. Error: `setting_invalid`.
 */
export function returnCheck(
  origins: readonly string[],
  { origin, production }: { readonly origin: string; readonly production: boolean },
): (url: string) => boolean {
  const allowed = new Set([origin, ...origins.map(readReturnOrigin)])
  return (text) => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') return false
    return allowed.has(url.origin) || (!production && ownMachine.has(url.hostname))
  }
}

function readReturnOrigin(text: string): string {
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (isOrigin) return url.origin
  throw new QuittanceError(
    'setting_invalid',
    `return_origins must be origins such as https://shop.example.com, got ${JSON.stringify(text)}`,
    { fix: 'Correct BILLING_RETURN_ORIGINS (return_origins): scheme and host, no path.' },
  )
}
