import type pg from 'pg'
import { QuittanceError } from '../kernel/errors.ts'
import type { Duration } from '../kernel/duration.ts'

/** A setting that changes what our statements mean, or how a value is read or written. */
interface NeededSetting {
  readonly name: string
  /** What it is set to where it is something else. */
  readonly value: string
  /** What else it may be: a regular expression of PostgreSQL, for the whole value. */
  readonly allowed: string
  /**
   * - `set`: where that is not possible, the connection is refused;
   * - `set if possible`: another value makes nothing wrong;
   * - `refused`: only a superuser may set it.
   */
  readonly otherwise: 'set' | 'set if possible' | 'refused'
}

function setting(
  name: string,
  value: string,
  { allowed = value, otherwise = 'set' }: Partial<NeededSetting> = {},
): NeededSetting {
  return { name, value, allowed, otherwise }
}

/**
 * The time zone, the search path and the access mode stay what they are: statements of listeners
 * need them, and ours hold with any.
 */
const neededSettings: readonly NeededSetting[] = [
  setting('default_transaction_isolation', 'read committed'),
  setting('synchronous_commit', 'on', { allowed: 'on|local|remote_write|remote_apply' }),
  // The style alone: the order of day and month stays, for texts of listeners.
  setting('DateStyle', 'ISO', { allowed: 'ISO, .*' }),
  setting('array_nulls', 'on'),
  setting('extra_float_digits', '1', { allowed: '[0-9]+' }),
  setting('standard_conforming_strings', 'on'),
  setting('transform_null_equals', 'off'),
  setting('exit_on_error', 'off'),
  setting('session_replication_role', 'origin', { otherwise: 'refused' }),
  setting('idle_session_timeout', '0', { otherwise: 'set if possible' }),
  setting('transaction_timeout', '0', { otherwise: 'set if possible' }),
]

const quoted = (text: string) => `'${text}'`

const rows = neededSettings.map(
  ({ name, value, allowed, otherwise }) =>
    `(${[name, value, `^(?:${allowed})$`, otherwise].map(quoted).join(', ')})`,
)

/**
 * Sets what has another value, and answers with all that still have one. It sets only where the
 * connection was announced under the number of its process: behind a pooler, the value would stay for
 * others. Older servers do not know all settings.
 */
const pin = `select name, setting, otherwise from (
    select name, allowed, otherwise, case
      when current_setting(name) ~ allowed or otherwise = 'refused'
        or pg_backend_pid() is distinct from $1::int then current_setting(name)
      else set_config(name, value, false) end as setting
    from (values ${rows.join(', ')}) as needed (name, value, allowed, otherwise)
    where current_setting(name, true) is not null) as session
  where setting !~ allowed`

/**
 * Makes a new connection independent of what is set for its database or role. Behind a pooler nothing
 * is set, for it would reach others: what is unsuitable is refused by its name.
 */
export async function pinSettings(client: pg.ClientBase, limit: Duration): Promise<void> {
  const query = {
    text: pin,
    values: [Reflect.get(client, 'processID')],
    // Nothing else limits how long a connection takes that is open already.
    query_timeout: limit,
  }
  const found = (await client.query<FoundSetting>(query)).rows
  const wrong = found.filter(({ otherwise }) => otherwise !== 'set if possible')
  if (wrong.length > 0) throw unsuitable(wrong)
}

/** For each connection of a pool. */
export function pinning(limit: Duration): Pick<pg.PoolConfig, 'onConnect'> {
  // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it
  return { onConnect: (client) => pinSettings(client, limit) }
}

interface FoundSetting extends Pick<NeededSetting, 'name' | 'otherwise'> {
  readonly setting: string
}

function unsuitable(wrong: readonly FoundSetting[]): QuittanceError {
  const found = wrong.map(({ name, setting }) => `${name} = '${setting}'`)
  const fixes = wrong.map(({ name }) => {
    const needed = neededSettings.find((one) => one.name === name)
    return `alter role NAME set ${name} = '${needed?.value}';`
  })
  return new QuittanceError(
    'database_setting_unsuitable',
    `sessions of the database have ${found.join(' and ')}`,
    { fix: `Set it for the role: ${fixes.join(' ')} Then restart the pooler, if there is one.` },
  )
}
