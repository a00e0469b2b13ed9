import { minutes } from '../../src/kernel/duration.ts'
import type { Patience } from '../../src/database/patience.ts'

/**
 * For a database on a machine with much else to do: what a test is about holds however slow it is.
 * Only tests of these limits have the usual ones.
 */
export const muchPatience: Patience = {
  connection: minutes(2),
  statement: minutes(2),
  lock: minutes(2),
  storing: minutes(2),
  answering: minutes(2),
  look: minutes(2),
  forgotten: minutes(2),
}
