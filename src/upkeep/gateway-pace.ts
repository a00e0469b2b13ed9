import { minutes, type Duration } from '../kernel/duration.ts'
import { createPace, type Pace } from '../kernel/pace.ts'

/** How fast one process asks each gateway. */
export interface GatewayPace {
  /** Gateways that are asked fast enough already. */
  busy(): readonly string[]
  /** The number of requests that may begin now at every gateway that is not busy. */
  most(): number
  /** Counts a request that may follow. */
  reserve(gateway: string): void
  /** No request has followed. */
  refund(gateway: string): void
  /** How long until some busy gateway is not; undefined: none is. */
  wait(): Duration | undefined
}

/** `burst`: requests that may begin at the same time. `now` only grows, in milliseconds. */
export function createGatewayPace(
  perMinute: (gateway: string) => number,
  { burst, now }: { readonly burst: number; readonly now?: () => Duration },
): GatewayPace {
  const paces = new Map<string, Pace>()
  const paceOf = (gateway: string): Pace => {
    const apart = minutes(1) / perMinute(gateway)
    const own = { apart, madeUpFor: (burst - 1) * apart, ...(now && { now }) }
    const pace = paces.get(gateway) ?? createPace(own)
    paces.set(gateway, pace)
    return pace
  }
  return {
    busy: () => [...paces].flatMap(([gateway, pace]) => (pace.room() === 0 ? gateway : [])),
    most: () =>
      Math.min(burst, ...[...paces.values()].map((pace) => pace.room()).filter((room) => room > 0)),
    reserve: (gateway) => paceOf(gateway).begin(),
    refund: (gateway) => paceOf(gateway).giveBack(),
    wait() {
      const waits = [...paces.values()].flatMap((pace) => pace.wait() ?? [])
      return waits.length === 0 ? undefined : Math.min(...waits)
    },
  }
}
