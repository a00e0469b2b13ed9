import { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { ListenerTransaction } from './listener.ts'

/**
 * A pool for `PrismaPg` whose only connection is the listener's transaction:
 * `new PrismaClient({ adapter: new PrismaPg(prismaPool(tx)) })`. Prisma's transactions become
 * savepoints, one after the other; to disconnect ends nothing.
 */
export function prismaPool({ client }: Pick<ListenerTransaction, 'client'>): pg.PoolConfig {
  // Options instead of a pool: the adapter makes the pool with its own copy of `pg`, and would not
  // know one of ours.
  class TransactionClient extends EventEmitter {
    readonly _queryable = true
    readonly query = client.query
    connect(done: () => void) {
      done()
    }
    end(done: () => void) {
      done()
    }
  }
  const Client = TransactionClient as unknown as new () => pg.ClientBase
  return { Client, max: 1, idleTimeoutMillis: 0 }
}
