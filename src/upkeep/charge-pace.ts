import { minutes, type Duration } from '../kernel/duration.ts'

/** How fast the saved cards of each gateway are charged by one process. */
export interface ChargePace {
  /** Gateways that are charged fast enough already. */
  busy(): readonly string[]
  /** How many charges may begin now, whatever their gateways are: of those that are not busy. */
  most(): number
  /** Counts a charge that may follow. */
  reserve(gateway: string): void
  /** No charge has followed. */
  refund(gateway: string): void
  /** How long until some busy gateway is not; undefined: none is. */
  wait(): Duration | undefined
}

interface Allowance {
  readonly spacing: Duration
  /** When all that was reserved is over; up to `burst` charges are ahead of it. */
  until: Duration
}

/**
 * `burst`: charges that may begin at the same time. `now` only grows, in milliseconds.
 */
export function createChargePace(
  perMinute: (gateway: string) => number,
  { burst, now }: { readonly burst: number; readonly now: () => Duration },
): ChargePace {
  const allowances = new Map<string, Allowance>()
  const allowanceOf = (gateway: string): Allowance => {
    const spacing = minutes(1) / perMinute(gateway)
    const known = allowances.get(gateway) ?? { spacing, until: now() }
    allowances.set(gateway, known)
    return known
  }
  const ahead = ({ until, spacing }: Allowance) => until - now() - (burst - 1) * spacing
  const waits = () =>
    [...allowances].flatMap(([gateway, allowance]) =>
      ahead(allowance) > 0 ? [{ gateway, wait: ahead(allowance) }] : [],
    )
  return {
    busy: () => waits().map(({ gateway }) => gateway),
    most() {
      const free = [...allowances.values()].filter((allowance) => ahead(allowance) <= 0)
      return Math.min(burst, ...free.map((one) => 1 + Math.floor(-ahead(one) / one.spacing)))
    },
    reserve(gateway) {
      const allowance = allowanceOf(gateway)
      allowance.until = Math.max(allowance.until, now()) + allowance.spacing
    },
    refund(gateway) {
      const allowance = allowanceOf(gateway)
      allowance.until -= allowance.spacing
    },
    wait() {
      const all = waits().map(({ wait }) => wait)
      return all.length === 0 ? undefined : Math.min(...all)
    },
  }
}
