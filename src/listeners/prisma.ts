import { EventEmitter } from 'node:events'
import type pg from 'pg'
import type { ListenerTransaction } from './listener.ts'

/**
 * What `PrismaPg` makes a pool of, whose only connection is the listener's transaction:
 * `new PrismaClient({ adapter: new PrismaPg(prismaPool(tx)) })`. Prisma's transactions become
 * savepoints, one after the other; to disconnect ends nothing.
 */
export function prismaPool({ client }: Pick<ListenerTransaction, 'client'>): pg.PoolConfig {
  // No pool of ours: the adapter may have a copy of `pg` of its own, and would not know it as one.
  class TransactionClient extends EventEmitter {
    readonly query = client.query
    connect(done: () => void): void {
      done()
    }
    end(done: () => void): void {
      done()
    }
  }
  // Used once, none is ever idle, so no timer waits for it.
  return { Client: TransactionClient as unknown as new () => pg.ClientBase, max: 1, maxUses: 1 }
}
