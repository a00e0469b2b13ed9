const ownMachine: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** Whether a payer may be sent on to a URL: our pages must only lead to the merchant's sites. */
export function returnCheck(
  origins: readonly string[],
  { production }: { readonly production: boolean },
): (url: string) => boolean {
  const allowed = new Set(origins)
  return (text) => {
    const url = URL.parse(text)
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '') return false
    return allowed.has(url.origin) || (!production && ownMachine.has(url.hostname))
  }
}
