import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** Public addresses of IPv6; all others are special, or not given out yet. Source: IANA. */
const publicV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** The old `::8.8.8.8`, which the package takes for the same as `::ffff:8.8.8.8`. */
const isCompatible = /^(?!::ffff:).*:.*\./i
/** Answers only inside Azure, with secrets of the machine, though it is in a public range. */
const azureHost = '168.63.129.16'

/**
 * Whether an address is a public one. What wraps an IPv4 address in an IPv6 one is judged by what it
 * leads to: `::ffff:10.0.0.1`; or refused, as `64:ff9b::` and `2002::`. So are other ways to write an
 * address: programs do not agree whether `010.0.0.1` is 8.0.0.1 or 10.0.0.1; and those of one network.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%') || isCompatible.test(text)) return false
  const address = ipaddr.process(text)
  if (address.range() !== 'unicast') return false
  if (address instanceof ipaddr.IPv6) return address.match(publicV6)
  return address.toString() !== azureHost
}

/** What may be connected to although it is not public. */
export interface AllowedPlaces {
  isAllowedUrl(url: URL): boolean
  isAllowedAddress(address: string): boolean
}

/** What is wrong with an entry of the list: a host name, an address or a range such as 10.0.0.0/8. */
export function allowFault(entry: string): string | undefined {
  const isRange = entry.includes('/')
  if (isRange) return ipaddr.isValidCIDR(entry) ? undefined : 'must be a range such as 10.0.0.0/8'
  const isHost = isIP(entry) !== 0 || /^[\w.-]+$/.test(entry)
  return isHost ? undefined : 'must be a host name without a port, an address or a range'
}

/** `origins`: allowed besides, without being listed; of a host not its other ports. */
export function allowedPlaces(
  entries: readonly string[],
  origins: readonly string[] = [],
): AllowedPlaces {
  const names = new Set(entries.map(hostOf))
  const ranges = entries.filter((entry) => entry.includes('/')).map((one) => ipaddr.parseCIDR(one))
  const addresses = entries
    .filter((entry) => ipaddr.isValid(entry))
    .map((one) => ipaddr.process(one))
  return {
    isAllowedUrl: (url) => names.has(hostOf(url.hostname)) || origins.includes(url.origin),
    isAllowedAddress(text) {
      if (!ipaddr.isValid(text)) return false
      const address = ipaddr.process(text)
      return (
        addresses.some((one) => one.toString() === address.toString()) ||
        ranges.some(([range, bits]) => {
          return range.kind() === address.kind() && address.match(range, bits)
        })
      )
    },
  }
}

/** As it is compared: in lower case, without the brackets of IPv6. */
export function hostOf(host: string): string {
  return host.toLowerCase().replace(/^\[|\]$/g, '')
}
