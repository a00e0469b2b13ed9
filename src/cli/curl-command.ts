import type { SignedCallback } from '../gateways/gateway.ts'

/** One shell line that posts the callback. */
export function curlCommand(url: string, { headers, body }: SignedCallback): string {
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  return ['curl', '-X POST', url, ...fields, `-d ${quoted(body)}`].join(' ')
}

/** Nothing inside single quotes means anything to a shell, except the quote itself. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
