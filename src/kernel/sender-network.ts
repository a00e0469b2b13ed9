import { isIPv4, isIPv6 } from 'node:net'

/**
 * The network of an address: the /24 of an IPv4 one, also in its mapped form, or the /48 of an IPv6
 * one. It says where many requests come from, and not who sent one. Null for what is no address.
 */
export function senderNetwork(address: string): string | null {
  const [plain = ''] = address.split('%')
  const [, mapped = plain] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain) ?? []
  if (isIPv4(mapped)) return `${mapped.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(plain)) return null
  const [head = '', tail] = plain.toLowerCase().split('::')
  const left = head === '' ? [] : head.split(':')
  // What stands behind the gap is at most five groups, unless little is left of it.
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return `${[...left, ...zeros, ...right].slice(0, 3).join(':')}::/48`
}
