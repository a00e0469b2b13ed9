import { PGlite } from '@electric-sql/pglite'

/** No sync: whoever needs the files makes them again. */
const initdbParameters = ['--no-sync', '-c', 'shared_buffers=32MB', '-c', 'max_connections=20']

/** Makes a database by initdb in this folder, and closes it. */
export async function runInitdb(folder: string): Promise<void> {
  const database = await PGlite.create(folder, {
    initDbStartParams: initdbParameters,
    startParams: [...PGlite.defaultStartParams, '-c', 'wal_recycle=off'],
  })
  // What initdb wrote to the log would be most of the archive; it is not needed any more.
  await database.exec('select pg_switch_wal(); checkpoint')
  await database.close()
}
