import type { Command } from 'commander'

interface Leaf {
  readonly command: Command
  readonly words: readonly string[]
}

/** Those commands that do something, with all the words that lead to them. */
export function leaves(command: Command, words: readonly string[] = []): readonly Leaf[] {
  if (command.commands.length === 0) return [{ command, words }]
  return command.commands.flatMap((child) => leaves(child, [...words, child.name()]))
}
