import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { folderNames } from './data-folder.ts'

/** Says who holds the data folder and, once it listens, where. */
const ownerSchema = z.object({
  pid: z.number(),
  address: z.object({ host: z.string(), port: z.number() }).optional(),
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

export function removeOwner(folder: string): void {
  rmSync(join(folder, folderNames.owner), { force: true })
}
