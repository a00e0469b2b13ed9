import type { ServerFacts, Standby } from '../../upkeep/diagnosis.ts'
import { error, ok, skipped, warning, type Finding } from './finding.ts'

const check = 'replication'

/** Whether a standby, once promoted, has everything that was reported as committed. */
export function replicationFinding(
  standbys: readonly Standby[],
  { readOnly, synchronousCommit, synchronousNames }: ServerFacts,
): Finding {
  if (readOnly) return skipped(check, 'the server is read-only')
  // Only an administrator sees the sessions of other roles.
  if (standbys.some(({ syncState }) => syncState === null)) {
    return skipped(check, 'this role may not see the standbys: grant it pg_monitor')
  }
  const synchronous = standbys.filter(({ syncState }) => isSynchronous(syncState))
  const others = namesOf(standbys.filter((one) => !synchronous.includes(one)))
  if (synchronous.length > 0) {
    const also = others === '' ? '' : `; never promote ${others}`
    return ok(check, `commits wait for ${namesOf(synchronous)}${also}`)
  }
  if (synchronousNames !== '' && synchronousCommit !== 'local') {
    return error(check, {
      found: `synchronous_standby_names is ${synchronousNames}, and none of them is connected: no commit ends`,
      fix: 'Start one of them, or take the gone ones out of synchronous_standby_names.',
    })
  }
  if (others === '') return ok(check, 'no standby is connected')
  return warning(check, {
    found: `asynchronous: ${others}. Promoted, it lacks callbacks that were answered 200`,
    fix: "Name two standbys: synchronous_standby_names = 'ANY 1 (a, b)'. See docs/5-operations.md, Failover.",
  })
}

function isSynchronous(syncState: string | null): boolean {
  return syncState === 'sync' || syncState === 'quorum'
}

function namesOf(standbys: readonly Standby[]): string {
  return standbys.map(({ name }) => name).join(', ')
}
