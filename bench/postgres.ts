import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { start } from './processes.ts'

/** A server for the run: its databases are made here and dropped at its end. */
export interface PostgresServer {
  readonly version: string
  readonly durability: string
  /** Makes a database, empty or as a copy, and gives its URL. */
  create(copyOf?: string): Promise<string>
  close(): Promise<void>
}

/** The server that the URL names, else one of our own that ends with the run. */
export async function openServer(given: string | undefined): Promise<PostgresServer> {
  const own = given === undefined ? await startOwn() : undefined
  const url = given ?? own?.ready.url ?? ''
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const show = async (setting: string) =>
    String((await client.query<Record<string, string>>(`show ${setting}`)).rows[0]?.[setting])
  const created: string[] = []
  return {
    version: await show('server_version'),
    durability: `fsync ${await show('fsync')}, synchronous_commit ${await show('synchronous_commit')}`,
    create: async (copyOf) => {
      const name = `quittance_bench_${randomUUID().replaceAll('-', '')}`
      const template = copyOf === undefined ? 'template0' : new URL(copyOf).pathname.slice(1)
      await client.query(`create database ${name} template ${template} strategy file_copy`)
      created.push(name)
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    },
    close: async () => {
      for (const name of created) await client.query(`drop database ${name} with (force)`)
      await client.end()
      await own?.stop()
    },
  }
}

async function startOwn() {
  const server = await start<{ readonly url?: string; readonly error?: string }>([
    '../test/support/postgres-server.ts',
  ])
  if (server.ready.url === undefined) throw new Error(`no PostgreSQL: ${server.ready.error}`)
  return server
}
