import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { QuittanceError } from '../../kernel/errors.ts'
import { folderNames } from './data-folder.ts'
import { readOwner } from './owner-file.ts'

/** One process at a time: two on the same files lose acknowledged rows without an error. */
export interface Lock {
  release(): void
}

const sqliteBusy = 5

/** The folders that this process holds: a pid would not tell, two containers may have the same. */
const held = new Set<string>()

/**
 * Node has no file lock; an exclusive SQLite transaction is one, and the system ends it with the
 * process, however that dies. Nothing else may open the file: closing it a second time in this
 * process would end the lock.
 */
export function takeLock(folder: string): Lock {
  const database = new DatabaseSync(join(folder, folderNames.lock))
  try {
    database.exec('begin exclusive')
  } catch (error) {
    database.close()
    if (isBusy(error)) throw inUse(folder)
    throw error
  }
  held.add(folder)
  return {
    release() {
      if (!database.isOpen) return
      held.delete(folder)
      database.close()
    },
  }
}

/** Deno says it by SQLite's own words alone. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return 'errcode' in error ? error.errcode === sqliteBusy : error.message === 'database is locked'
}

function inUse(folder: string): QuittanceError {
  const owner = readOwner(folder)
  if (held.has(folder)) return heldByUs(folder)
  const holder = owner === undefined ? 'another process' : `process ${owner.pid}`
  if (owner === undefined || owner.address !== undefined) {
    return new QuittanceError('embedded_in_use', `the data folder ${folder} is in use by ${holder}`)
  }
  return new QuittanceError(
    'embedded_in_use',
    `${holder} is starting the embedded database in ${folder}`,
    { fix: 'Wait until it runs (the first start makes the database), then try again.' },
  )
}

function heldByUs(folder: string): QuittanceError {
  return new QuittanceError(
    'embedded_in_use',
    `the data folder ${folder} is in use by another billing of this process`,
    {
      fix:
        'Make one billing and import it where it is needed. Where a bundler loads its module more ' +
        'than once (Next.js), make it with sharedBilling().',
    },
  )
}
