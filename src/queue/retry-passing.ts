import { setTimeout as pause } from 'node:timers/promises'
import { isPassing } from '../database/failure.ts'
import { returnDelay } from './retry.ts'

const tries = 5

/**
 * Does work on the database that must survive a deadlock or a lost connection: a provider gives its
 * answer only once. Rejects if the database stays away.
 */
export async function retryPassing<T>(work: () => Promise<T>, random: () => number): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || attempt + 1 >= tries) throw error
      await pause(returnDelay(attempt, random))
    }
  }
}
