import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import { asksJson, printRows } from '../noun.ts'
import { print, printJson } from '../output.ts'

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
  const { listenerNoun } = await import('../../listeners/known-listeners.ts')
  const known = await withCore((core) => core.listeners.list())
  if (asksJson(command)) printJson(known.map(listenerNoun.view))
  else if (known.length === 0) print('No listeners.')
  else await printRows(known, listenerNoun)
}

async function forget(name: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  await withCore((core) => core.listeners.forget(name))
  if (asksJson(command)) printJson({ forgotten: name })
  else print(`Forgot ${name}.`)
}
