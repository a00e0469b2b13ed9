import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { checkFreeSpace, checkIntact, folderNames } from '../../database/embedded/data-folder.ts'
import type { Installation } from './installation.ts'
import { error, ok, skipped, thrown, warning, type Finding } from './finding.ts'

const check = 'data_folder'
const openToOthers = 0o077
const comfortableBytes = 1024 ** 3

/** The folder of the embedded database: who owns it, who may enter, whether there is room. */
export async function checkDataFolder(installation: Installation): Promise<readonly Finding[]> {
  const { url, dataDir } = installation.inspected.configuration.options.database
  if (url !== undefined) return [skipped(check, 'not needed: the database is a server')]
  if (!existsSync(dataDir)) return [skipped(check, `${dataDir} is made at the first start`)]
  const folder = resolve(dataDir)
  if (!statSync(folder).isDirectory()) {
    return [
      error(check, {
        found: `${dataDir} is no folder`,
        fix: 'Set BILLING_DATA_DIR to a folder of its own.',
      }),
    ]
  }
  const faults = [...checkRights(dataDir), ...(await checkRoom(folder))]
  return faults.length > 0 ? faults : [ok(check, `${dataDir} is private, and there is room`)]
}

function checkRights(dataDir: string): readonly Finding[] {
  const { mode, uid } = statSync(dataDir)
  const ownUid = process.getuid?.() ?? uid
  const findings: Finding[] = []
  if ((mode & openToOthers) !== 0) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0')
    findings.push(
      error(check, {
        found: `${dataDir} is open to other users (mode ${shown})`,
        fix: `Run: chmod 700 ${dataDir}`,
      }),
    )
  }
  if (uid !== ownUid) {
    findings.push(
      warning(check, {
        found: `${dataDir} belongs to user ${uid}; this is user ${ownUid}`,
        fix: 'Run the service and the commands as one and the same user.',
      }),
    )
  } else if (!isWritable(dataDir)) {
    findings.push(
      error(check, { found: `${dataDir} cannot be written`, fix: `Run: chmod 700 ${dataDir}` }),
    )
  }
  return findings
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function checkRoom(folder: string): Promise<readonly Finding[]> {
  try {
    checkIntact(join(folder, folderNames.database))
    await checkFreeSpace(folder)
  } catch (fault) {
    return [thrown(check, fault, 'Make the folder readable.')]
  }
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  if (freeBytes >= comfortableBytes) return []
  return [
    warning(check, {
      found: `the disk has ${Math.floor(freeBytes / 1024 ** 2)} MiB left`,
      fix: 'Free some space, or set BILLING_DATA_DIR to another disk.',
    }),
  ]
}
