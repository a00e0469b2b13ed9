import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import { folderNames } from './data-folder.ts'

/** Says who holds the data folder and, once it listens, where. */
const ownerSchema = z.object({
  pid: z.number(),
  address: z.object({ host: z.string(), port: z.number() }).optional(),
  /** The origin of the URLs that it hands out; of a service also where it takes requests. */
  service: z.object({ url: z.string().optional(), origin: z.string() }).optional(),
})

export type Owner = z.infer<typeof ownerSchema>

/** Replaces the note in one step: a reader sees the old one or the new one. */
export function writeOwner(folder: string, owner: Owner): void {
  const path = join(folder, folderNames.owner)
  writeFileSync(`${path}.new`, JSON.stringify(owner), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** The last note, which a killed owner leaves behind; undefined if there is none. */
export function readOwner(folder: string): Owner | undefined {
  try {
    const path = join(folder, folderNames.owner)
    return ownerSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch {
    return undefined
  }
}

/** Adds to the note of this process where it serves. */
export function noteService(folder: string, service: Owner['service']): void {
  const owner = readOwner(folder)
  if (owner?.pid === process.pid) writeOwner(folder, { ...owner, service })
}

/** Where the service or the app on this folder is; undefined if none runs. */
export function findService(folder: string): Owner['service'] {
  const owner = readOwner(folder)
  return owner !== undefined && isRunning(owner.pid) ? owner.service : undefined
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

export function removeOwner(folder: string): void {
  rmSync(join(folder, folderNames.owner), { force: true })
}
