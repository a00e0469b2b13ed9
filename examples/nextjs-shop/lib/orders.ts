import { randomUUID } from 'node:crypto'
import { pool } from './pool'
import { product } from './product'

export interface Order {
  readonly id: string
  readonly shopper: string
  /** In minor units; `refunded`: what has gone back so far. */
  readonly amount: number
  readonly refunded: number
  readonly state: 'new' | 'granted' | 'taken back'
}

/** So that the example needs no set-up; in your app a migration does it. */
export async function createTable(): Promise<void> {
  await pool.query(
    `create table if not exists orders (
       id uuid primary key,
       shopper text not null,
       amount integer not null,
       refunded integer not null default 0,
       state text not null default 'new',
       created_at timestamptz not null default now()
     )`,
  )
}

export async function addOrder(shopper: string): Promise<string> {
  const id = randomUUID()
  const insert = 'insert into orders (id, shopper, amount) values ($1, $2, $3)'
  await pool.query(insert, [id, shopper, product.amount])
  return id
}

/** The shopper's own order; undefined for anybody else's. */
export async function findOrder(id: string, shopper: string): Promise<Order | undefined> {
  const find = 'select * from orders where id::text = $1 and shopper = $2'
  const { rows } = await pool.query<Order>(find, [id, shopper])
  return rows[0]
}

export async function listOrders(shopper: string): Promise<readonly Order[]> {
  const list = 'select * from orders where shopper = $1 order by created_at desc limit 50'
  const { rows } = await pool.query<Order>(list, [shopper])
  return rows
}
