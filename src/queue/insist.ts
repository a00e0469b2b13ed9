import { setTimeout as pause } from 'node:timers/promises'
import { isPassing } from '../database/failure.ts'
import { returnDelay } from './retry.ts'

const tries = 5

/**
 * Does work on the database that must not be lost to a deadlock or a connection that breaks: what a
 * provider has answered is told once. Rejects where the database stays away.
 */
export async function insist<T>(work: () => Promise<T>, random: () => number): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || attempt + 1 >= tries) throw error
      await pause(returnDelay(attempt, random))
    }
  }
}
