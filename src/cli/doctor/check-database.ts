import { sql } from 'kysely'
import type { Database } from '../../database/connect.ts'
import { pendingMigrations } from '../../database/migrate.ts'
import { databaseNow } from '../../database/now.ts'
import { tlsFaultOf } from '../../database/tls-faults.ts'
import { systemClock } from '../../kernel/clock.ts'
import { errorCatalogue, isQuittanceError } from '../../kernel/errors.ts'
import { codeOf, describeError } from '../describe-error.ts'
import type { Configuration } from '../env.ts'
import { type Fault, type Finding, error, ok, skipped, warning } from './finding.ts'
import type { Installation } from './installation.ts'
import { atRest } from './open-for-diagnosis.ts'

const checks = ['server', 'durability', 'replication', 'migrations', 'clock'] as const

const oldestVersion = 15
const newestVersion = 18

/** Whether it is reachable, fit to keep money, up to date, and agrees about the time. */
export async function checkDatabase({ database: state, inspected }: Installation) {
  if (state.kind === 'closed') {
    const { why, cause } = state
    return [
      why === atRest
        ? skipped('database', `embedded; ${why}`)
        : error('database', unreachable(cause, inspected.configuration)),
      ...checks.map((check) => skipped(check, why)),
    ]
  }
  const { database } = state
  const facts = await readServerFacts(database)
  return [
    ok('database', describe(database, facts, inspected.configuration)),
    ...checkServer(facts),
    ...(database.kind === 'embedded'
      ? [ok('durability', 'survives a killed process, not a power cut')]
      : [...checkDurability(facts), await checkReplication(database, facts)]),
    await checkMigrations(database),
    await checkClock(database),
  ]
}

async function checkReplication(database: Database, facts: ServerFacts): Promise<Finding> {
  try {
    return replicationFinding(await readStandbys(database), facts)
  } catch {
    // Some hosted servers do not show it.
    return skipped('replication', 'the standbys cannot be seen')
  }
}

function describe(
  { kind }: Database,
  { version }: ServerFacts,
  configuration: Configuration,
): string {
  return kind === 'embedded'
    ? 'embedded, answers'
    : `PostgreSQL ${version} at ${hostOf(configuration)}`
}

/** Without user and password. */
function hostOf({ options }: Configuration): string {
  const url = URL.parse(options.database.url ?? '')
  return url === null ? 'the database' : `${url.host}${url.pathname}`
}

/** By SQLSTATE or the system's code. */
const fixes: Readonly<Record<string, string>> = {
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  '53300': 'Raise max_connections of the server, or lower database.poolSize.',
  '57P03': 'Wait until the server has started.',
  ECONNREFUSED: 'Start the server; check host and port in DATABASE_URL.',
  ENOTFOUND: 'Correct the host name in DATABASE_URL.',
  EAI_AGAIN: 'Name resolution fails on this machine: check its DNS.',
  ENOENT: 'Start the server; check the socket in DATABASE_URL.',
}

function unreachable(cause: unknown, configuration: Configuration): Fault {
  const host = hostOf(configuration)
  const tls = tlsFaultOf(cause)
  if (tls !== undefined) return { ...tls, found: `no connection to ${host}: ${tls.found}` }
  if (isQuittanceError(cause)) return { found: cause.message, fix: cause.fix }
  const code = codeOf(cause)
  const rejected = code.startsWith('28')
  return {
    found: `no answer from ${host}: ${describeError(cause)}`,
    fix: rejected
      ? errorCatalogue.database_rejected
      : (fixes[code] ?? errorCatalogue.database_unreachable),
  }
}

function checkServer({ version, encoding, readOnly, standby }: ServerFacts): readonly Finding[] {
  const findings: Finding[] = []
  const add = (found: string, fix: string) => findings.push(error('server', { found, fix }))
  if (version < oldestVersion) {
    add(`it is PostgreSQL ${version}`, errorCatalogue.database_version_unsupported)
  }
  if (encoding !== 'UTF8') {
    add(`the encoding is ${encoding}`, errorCatalogue.database_encoding_unsupported)
  }
  if (readOnly && standby) {
    add('it is a standby, which is read-only', 'Let the name in DATABASE_URL lead to the primary.')
  } else if (readOnly) {
    add(
      'it is read-only',
      'Name the primary in DATABASE_URL, or reset default_transaction_read_only.',
    )
  }
  if (version > newestVersion) {
    const found = `PostgreSQL ${version} is newer than what is tested (${newestVersion})`
    findings.push(warning('server', { found, fix: 'Look for a newer version of Quittance.' }))
  }
  return findings.length > 0 ? findings : [ok('server', `version ${version}, ${encoding}`)]
}

/** Whether the server keeps what it reported as committed. */
export function checkDurability(
  facts: Pick<ServerFacts, 'synchronousCommit' | 'fsync' | 'fullPageWrites'>,
): readonly Finding[] {
  const findings: Finding[] = []
  const off = (setting: string, risk: string) => ({
    found: `${setting} is off: ${risk}`,
    fix: `Turn ${setting} on: in postgresql.conf, or for this role and database.`,
  })
  if (facts.synchronousCommit === 'off') {
    findings.push(error('durability', off('synchronous_commit', 'a crash loses accepted calls')))
  }
  if (facts.synchronousCommit === 'local') {
    findings.push(
      warning('durability', {
        found: 'synchronous_commit is local: commits wait for no standby',
        fix: 'Set synchronous_commit = on: in postgresql.conf, or for this role and database.',
      }),
    )
  }
  if (facts.fsync !== 'on') {
    findings.push(error('durability', off('fsync', 'a power cut destroys the database')))
  }
  if (facts.fullPageWrites !== 'on') {
    findings.push(warning('durability', off('full_page_writes', 'a power cut can tear pages')))
  }
  return findings.length > 0
    ? findings
    : [ok('durability', 'fsync, synchronous_commit and full_page_writes are on')]
}

async function checkMigrations(database: Database): Promise<Finding> {
  const pending = await pendingMigrations(database)
  if (pending.length > 0) {
    return error('migrations', {
      found: `the database lacks ${pending.join(', ')}`,
      fix: errorCatalogue.database_schema_outdated,
    })
  }
  return ok('migrations', 'the schema is up to date')
}

async function checkClock(database: Database): Promise<Finding> {
  const before = systemClock().getTime()
  const there = (await databaseNow(database.db)).getTime()
  const here = (before + systemClock().getTime()) / 2
  return clockFinding(there - here)
}

const noticeableMs = 5_000
const harmfulMs = 60_000

/**
 * Signatures hold for minutes; with a clock that is off by that much, genuine callbacks are
 * refused.
 */
export function clockFinding(aheadMs: number): Finding {
  const apart = Math.abs(aheadMs)
  if (apart < noticeableMs) return ok('clock', 'agrees with the clock of the database')
  const fault = {
    found: `the database’s clock is ${Math.round(apart / 1000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`,
    fix: 'Synchronise both machines by NTP: signatures hold for minutes only.',
  }
  return apart < harmfulMs ? warning('clock', fault) : error('clock', fault)
}

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

export interface ServerFacts {
  /** Major version, e.g. 18. */
  readonly version: number
  readonly encoding: string
  readonly readOnly: boolean
  /** It replays what another server writes. */
  readonly standby: boolean
  readonly fsync: string
  readonly synchronousCommit: string
  /** As set; empty: commits wait for no standby. */
  readonly synchronousNames: string
  readonly fullPageWrites: string
}

export async function readServerFacts(database: Database): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version_num')::int / 10000 as version,
      current_setting('server_encoding') as encoding,
      current_setting('transaction_read_only') = 'on' as "readOnly",
      current_setting('fsync') as fsync,
      pg_is_in_recovery() as standby,
      (select reset_val from pg_settings where name = 'synchronous_commit') as "synchronousCommit",
      current_setting('synchronous_standby_names') as "synchronousNames",
      current_setting('full_page_writes') as "fullPageWrites"`.execute(database.db)
  const [facts] = rows
  if (facts === undefined) throw new Error('the database answered without a row')
  return facts
}

/** A server that could take over. */
interface Standby {
  readonly name: string
  /** `async`, `potential`, `sync` or `quorum`; null: this role may not see it. */
  readonly syncState: string | null
}

/** Receivers that replay the log: not backups, and not subscribers to some of the tables. */
export async function readStandbys(database: Database): Promise<readonly Standby[]> {
  const { rows } = await sql<Standby>`
    select coalesce(nullif(application_name, ''), 'a standby') as name, sync_state as "syncState"
    from pg_stat_replication as sender
    left join pg_replication_slots as slot on slot.active_pid = sender.pid
    where slot.slot_type is distinct from 'logical' and sender.state is distinct from 'backup'
    order by name`.execute(database.db)
  return rows
}
