import type { StreamLimits } from './page-context.ts'

/** A stream that is open, or about to be. */
export interface Place {
  /** False if the payment has as many streams as it may. */
  watch(paymentId: string): boolean
  leave(): void
}

/** Who may follow a payment: nobody can take all the streams from everybody else. */
export interface StreamPlaces {
  /** Undefined if there are too many, in all or from this address; an empty address is unknown. */
  enter(address: string): Place | undefined
}

export function streamPlaces({ streams, perAddress, perPayment }: StreamLimits): StreamPlaces {
  const crowdedFrom = Math.floor((streams * 3) / 4)
  const addresses = counts()
  const payments = counts()
  let open = 0
  return {
    enter(address) {
      const hasMany = address !== '' && addresses.of(address) >= perAddress
      if (open >= streams || (open >= crowdedFrom && hasMany)) return undefined
      open += 1
      addresses.add(address, 1)
      let watched: string | undefined
      return {
        watch(paymentId) {
          if (payments.of(paymentId) >= perPayment) return false
          payments.add(paymentId, 1)
          watched = paymentId
          return true
        },
        leave() {
          open -= 1
          addresses.add(address, -1)
          if (watched !== undefined) payments.add(watched, -1)
        },
      }
    },
  }
}

function counts() {
  const known = new Map<string, number>()
  const of = (name: string) => known.get(name) ?? 0
  return {
    of,
    add(name: string, change: 1 | -1) {
      const count = of(name) + change
      if (count > 0) known.set(name, count)
      else known.delete(name)
    },
  }
}
