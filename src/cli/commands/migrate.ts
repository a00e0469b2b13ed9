import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import { print, printJson } from '../output.ts'

export function addMigrate(program: Command): void {
  const migrate = program
    .command('migrate')
    .description('bring the database schema up to date')
    .action(async (_options: unknown, command: Command) => {
      const { withCore } = await import('../open-core.ts')
      const applied = await withCore((core) => core.migrate(), { start: false })
      if (command.optsWithGlobals<{ json?: boolean }>().json) printJson({ applied })
      else if (applied.length === 0) print('The schema is up to date.')
      else print(`Applied: ${applied.join(', ')}`)
    })
  addExamples(migrate, [['migrate', 'before the new version starts']])
}
