/** A copy of the checkout whose code has a switch for each mutant. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Mutant } from './choose.ts'
import { mutationsOf, placeOf, withSwitches, type Found } from './generate.ts'

/** Where the compiler takes no notice of it. */
const switches = 'node_modules/mutant-switch'

/** Makes the copy; returns the mutants whose code is gone. */
export async function makeTree(
  folder: string,
  mutants: readonly Mutant[],
): Promise<readonly Mutant[]> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of filesOfCheckout()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    copyFileSync(file, join(folder, file))
  }
  execFileSync('cp', ['-al', 'node_modules', join(folder, 'node_modules')])
  rmSync(join(folder, 'node_modules/.cache'), { recursive: true, force: true })
  const from = join(folder, switches, 'index.mjs')
  mkdirSync(dirname(from))
  copyFileSync('test/mutants/switch.mjs', from)
  return writeSwitches(folder, mutants, from)
}

function filesOfCheckout(): readonly string[] {
  const flags = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  const listed = execFileSync('git', flags, { encoding: 'utf8', maxBuffer: 1 << 26 })
  return listed.split('\0').filter((file) => file !== '' && existsSync(file))
}

async function writeSwitches(
  folder: string,
  mutants: readonly Mutant[],
  from: string,
): Promise<readonly Mutant[]> {
  const gone: Mutant[] = []
  for (const [file, its] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    if (!existsSync(file)) {
      gone.push(...its)
      continue
    }
    const content = readFileSync(file, 'utf8')
    const today = await mutationsOf(file, content)
    const changes = new Map<Found, string>()
    for (const mutant of its) {
      const place = placeOf(mutant, today)
      if (place === undefined) gone.push(mutant)
      else changes.set(place, mutant.name)
    }
    writeFileSync(join(folder, file), await withSwitches(content, changes, from))
  }
  return gone
}

/** Which mutant is on in the processes that begin from now on; an empty name: none. */
export function turnOn(folder: string, name: string): void {
  writeFileSync(join(folder, switches, 'mutant-on'), name)
}

/** The mutants that were reached since the last look. */
export function takeReached(folder: string): readonly string[] {
  const file = join(folder, switches, 'mutants-reached')
  const names = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  rmSync(file, { force: true })
  return [...new Set(names.filter((name) => name !== ''))]
}
