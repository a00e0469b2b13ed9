// The shop's own table, in the database of the payments: so a listener can write to it.
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import pg from 'pg'
import { product } from './product.ts'
import { dataDir } from './quittance.config.ts'

export interface Order {
  readonly id: string
  /** In minor units; `refunded`: what has gone back so far. */
  readonly amount: number
  readonly refunded: number
  readonly state: 'new' | 'granted' | 'taken back'
}

const { DATABASE_URL } = process.env

/** The embedded database listens on a socket in its folder. */
const embedded = { host: resolve(dataDir), user: 'postgres', database: 'postgres' }

export const pool = new pg.Pool(DATABASE_URL ? { connectionString: DATABASE_URL } : embedded)
// A connection that breaks while nobody uses it is replaced.
pool.on('error', (error) => console.error(error.message))

/** So that the example needs no set-up; in your app a migration does it. */
export async function createTable(): Promise<void> {
  await pool.query(
    `create table if not exists orders (
       id uuid primary key,
       amount integer not null,
       refunded integer not null default 0,
       state text not null default 'new'
     )`,
  )
}

export async function addOrder(): Promise<Order> {
  const insert = 'insert into orders (id, amount) values ($1, $2) returning *'
  const { rows } = await pool.query<Order>(insert, [randomUUID(), product.amount])
  const [order] = rows
  if (order === undefined) throw new Error('the order was not stored')
  return order
}

export async function findOrder(id: string): Promise<Order | undefined> {
  const { rows } = await pool.query<Order>('select * from orders where id::text = $1', [id])
  return rows[0]
}
