import { minutes } from '../../src/kernel/duration.ts'
import { muchPatience as much, type Patience } from '../../src/database/patience.ts'

/**
 * For a database on a machine with much else to do: what a test is about holds however slow it is.
 * Only tests of these limits have the usual ones.
 */
export const muchPatience: Patience = { ...much, lock: minutes(2), forgotten: minutes(2) }
