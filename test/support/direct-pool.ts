import pg from 'pg'

/**
 * A pool beside that of the product. Its `end` does not wait for the server: where the database is
 * dropped right after it, the clients may still hear that. Statements fail as ever.
 */
export function directPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config)
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}
