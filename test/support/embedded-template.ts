import { cpSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../../src/database/embedded/open-embedded.ts'
import { silentLog } from '../../src/kernel/log.ts'

/** Folder of an empty embedded database: copying it spares each test file the seconds of initdb. */
const templateVariable = 'QUITTANCE_TEST_EMBEDDED'

export interface OpenTestEmbedded {
  readonly socket: { readonly host: string; readonly port: number }
  close(): Promise<void>
}

/** Makes the template; afterwards every process of the test run finds it. */
export async function makeTemplate(): Promise<() => void> {
  const folder = spaciousFolder('quittance-template-')
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  const database = await open(folder)
  await database.close()
  process.env[templateVariable] = folder
  return remove
}

/** An empty embedded database of the caller's own. */
export async function openTestEmbedded(): Promise<OpenTestEmbedded> {
  const template = process.env[templateVariable]
  if (template === undefined) return open(undefined)
  const folder = spaciousFolder('quittance-embedded-')
  cpSync(template, folder, { recursive: true })
  const { socket, close } = await open(folder)
  return {
    socket,
    close: async () => {
      await close()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Fills a data folder that does not exist yet, where there is a template. */
export function fillDataFolder(dataDir: string): void {
  const template = process.env[templateVariable]
  if (template !== undefined) cpSync(template, dataDir, { recursive: true })
}

function open(dataDir: string | undefined) {
  return openEmbedded({
    dataDir,
    log: silentLog,
    transactionIdleMs: 10_000,
    onLost: (error) => {
      throw error
    },
  })
}

const enoughBytes = 2 * 1024 ** 3

/** In memory where the system offers that: these databases need not outlive the test. */
function spaciousFolder(prefix: string): string {
  const memory = '/dev/shm'
  return mkdtempSync(join(freeBytes(memory) > enoughBytes ? memory : tmpdir(), prefix))
}

function freeBytes(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  } catch {
    return 0
  }
}
