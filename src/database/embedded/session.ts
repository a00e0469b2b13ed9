import { createPrepared } from './prepared.ts'
import { refusal, type Unit } from './units.ts'
import { query, readResponse, sync } from './wire-protocol.ts'

/** The database's one session, which all clients share in turn. */
export interface Session {
  /** Runs a unit; `free` says that the session is outside any transaction afterwards. */
  run(unit: Unit): Promise<{ readonly response: Buffer; readonly free: boolean }>
  /** Ends whatever a client left open. */
  rollBack(): Promise<void>
  /**
   * Removes what the last client would leave for the next one, and plans for tables that have grown;
   * only between transactions.
   */
  tidy(): Promise<void>
}

/** The Sync ends a unit that a Flush left half-way. */
const rollback = Buffer.concat([sync, query('rollback')])
const discard = query('discard all')
const discardPlans = query('discard plans')
const fewUnits = 50

/**
 * `run` runs bytes of the wire protocol and rejects only when the session is lost.
 *
 * It erases settings, prepared statements, cursors, subscriptions and temporary tables of a client
 * that used SET, PREPARE, DEALLOCATE, DECLARE or LISTEN. It does not notice
 * `set_config(..., false)` and a temporary table alone.
 */
export function createSession(run: (bytes: Buffer) => Promise<Buffer>): Session {
  let leftTrace = false
  let units = 0
  // Tables are analyzed at night alone, so a plan lasts, and suits them as large as they were when it
  // was made: plans are made anew whenever as much has been run again.
  let unitsOfPlans = fewUnits
  const prepared = createPrepared(run)
  const answerTo = ({ bytes, statement }: Unit) => {
    const isTaken = statement !== undefined && prepared.isTaken(statement)
    return isTaken ? run(refusal) : prepared.run(bytes, statement)
  }
  return {
    async run(unit) {
      const response = await answerTo(unit)
      const { state, leavesTrace } = readResponse(response)
      if (unit.complete && state === 'partial') throw new Error('the database stopped answering')
      units += 1
      if (leavesTrace) {
        leftTrace = true
        prepared.forget()
      }
      return { response, free: state === 'idle' }
    },
    async rollBack() {
      const { state } = readResponse(await run(rollback))
      if (state !== 'idle') throw new Error('a rollback left the session in a transaction')
    },
    async tidy() {
      if (units >= 2 * unitsOfPlans) {
        await run(discardPlans)
        unitsOfPlans = units
      }
      if (!leftTrace) return
      await run(discard)
      prepared.forget()
      leftTrace = false
    },
  }
}
