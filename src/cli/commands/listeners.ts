import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import { print, printJson, printTable } from '../output.ts'

export function addListeners(program: Command): void {
  const listeners = program
    .command('listeners')
    .description('the listener names that the database remembers')
  const listCommand = listeners
    .command('list')
    .description('show them, and whether this configuration has them')
    .action(list)
  addExamples(listCommand, [['listeners list']])
  const forgetCommand = listeners
    .command('forget')
    .description('forget a listener that was removed for good')
    .argument('<name>')
    .action(forget)
  addExamples(forgetCommand, [['listeners forget sendReceipt']])
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const known = await withCore((core) => core.listeners.list())
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(
      known.map(({ name, eventTypes, queued, present, registeredAt }) => ({
        name,
        event_types: eventTypes,
        queued,
        present,
        registered_at: registeredAt.toISOString(),
      })),
    )
  } else if (known.length === 0) {
    print('No listeners.')
  } else {
    printTable({
      headings: ['name', 'queued', 'here', 'events'],
      rows: known.map(({ name, queued, present, eventTypes }) => [
        name,
        queued ? 'yes' : 'no',
        present ? 'yes' : 'no',
        eventTypes.join(', '),
      ]),
    })
  }
}

async function forget(name: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  await withCore((core) => core.listeners.forget(name))
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) printJson({ forgotten: name })
  else print(`Forgot ${name}.`)
}
