import { createHmac } from 'node:crypto'
import { excessOver, inThisProcess, type Limits } from '../http/throttle.ts'
import { seconds } from '../kernel/duration.ts'
import type { Configuration } from './env.ts'

/** A supervisor answers at once, or is about to be replaced. */
const longestAnswer = seconds(1)

/** In the supervisor: counts what its processes ask it to, for all of them together. */
export async function countForAll(): Promise<void> {
  const { RateLimiterClusterMaster } = await import('rate-limiter-flexible')
  // It hears its processes from now on.
  return void new RateLimiterClusterMaster()
}

/** How a process of the service counts guesses: one of several, together with the others. */
export function limitsOf({ process: place, runToken }: Configuration): Limits {
  if (place === undefined || runToken === undefined) return inThisProcess
  return (name, rate) =>
    excessOver(rate, {
      seed: createHmac('sha256', runToken).update(`budgets of ${name}`).digest(),
      open: async ({ points, seconds: duration }) => {
        const { RateLimiterCluster } = await import('rate-limiter-flexible')
        const keyPrefix = `quittance ${name}`
        return new RateLimiterCluster({ keyPrefix, points, duration, timeoutMs: longestAnswer })
      },
    })
}
