/* A process that owns an embedded database, or uses a running one:
   owner.ts serve FOLDER | write FOLDER | count FOLDER */
import pg from 'pg'
import { findEmbedded } from '../../src/database/embedded/find-embedded.ts'
import { openEmbedded } from '../../src/database/embedded/open-embedded.ts'
import type { SocketAddress } from '../../src/database/embedded/socket-place.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'

const [command, folder = ''] = process.argv.slice(2)
const say = (line: string) => process.stdout.write(`${line}\n`)

const poolOf = (socket: SocketAddress) =>
  new pg.Pool({ ...socket, user: 'quittance', database: 'quittance', max: 4 })

async function serve(): Promise<SocketAddress> {
  const { socket } = await openEmbedded({
    dataDir: folder,
    log: silentLog,
    onLost: (error) => say(`lost ${error.message}`),
    transactionIdleMs: 5000,
  })
  say('ready')
  return socket
}

/** Says each number after its commit, with a counter that the same transaction raises. */
async function write(): Promise<void> {
  const pool = poolOf(await serve())
  await pool.query('create table if not exists rows (id bigint primary key, filler text)')
  await pool.query('create table if not exists counter (total bigint)')
  await pool.query('insert into counter select 0 where not exists (select from counter)')
  const { rows } = await pool.query('select coalesce(max(id), 0) as last from rows')
  for (let id = Number(rows[0].last) + 1; ; id += 1) {
    const client = await pool.connect()
    await client.query('begin')
    await client.query('insert into rows values ($1, $2)', [id, 'x'.repeat(1000)])
    await client.query('update counter set total = total + 1')
    await client.query('commit')
    client.release()
    say(`acked ${id}`)
  }
}

async function count(): Promise<void> {
  const pool = poolOf(await findEmbedded(folder))
  const { rows } = await pool.query('select count(*)::int as count from rows')
  say(`count ${rows[0].count}`)
  await pool.end()
}

try {
  if (command === 'serve') await serve()
  if (command === 'write') await write()
  if (command === 'count') await count()
} catch (error) {
  process.stderr.write(
    isQuittanceError(error) ? `${error.code}: ${error.message}\n` : String(error),
  )
  process.exit(1)
}
