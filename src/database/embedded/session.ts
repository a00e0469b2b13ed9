import type { Unit } from './units.ts'
import { query, readResponse, sync } from './wire-protocol.ts'

/** The database's one session, which all clients share in turn. */
export interface Session {
  /** Runs a unit; `free` says that the session is outside any transaction afterwards. */
  run(unit: Unit): Promise<{ readonly response: Buffer; readonly free: boolean }>
  /** Ends whatever a client left open. */
  rollBack(): Promise<void>
  /** Removes what the last client would leave for the next one; only between transactions. */
  erase(): Promise<void>
}

/** The Sync ends a unit that a Flush left half-way. */
const rollback = Buffer.concat([sync, query('rollback')])
const discard = query('discard all')

/**
 * `run` runs bytes of the wire protocol and rejects only when the session is lost.
 *
 * It erases settings, prepared statements, cursors, subscriptions and temporary tables of a client
 * that used SET, PREPARE, DECLARE or LISTEN. It does not notice `set_config(..., false)` and a
 * temporary table alone.
 */
export function createSession(run: (bytes: Buffer) => Promise<Buffer>): Session {
  let leftTrace = false
  return {
    async run(unit) {
      const response = await run(unit.bytes)
      const { state, leavesTrace } = readResponse(response)
      if (unit.complete && state === 'partial') throw new Error('the database stopped answering')
      leftTrace ||= leavesTrace
      return { response, free: state === 'idle' }
    },
    async rollBack() {
      const { state } = readResponse(await run(rollback))
      if (state !== 'idle') throw new Error('a rollback left the session in a transaction')
    },
    async erase() {
      if (!leftTrace) return
      await run(discard)
      leftTrace = false
    },
  }
}
