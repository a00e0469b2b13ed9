import type { Argument, Command, Option } from 'commander'
import { sortedFields, type Structure } from './shape.ts'

/** What can be typed: each command with its other names, arguments and options, without prose. */
export function helpStructure(program: Command): Structure {
  return sortedFields(commandsIn(program, []))
}

type Entry = readonly [string, Structure]

function commandsIn(command: Command, words: readonly string[]): readonly Entry[] {
  const own = {
    ...(command.aliases().length > 0 && { aliases: command.aliases().toSorted() }),
    ...(command.registeredArguments.length > 0 && {
      arguments: command.registeredArguments.map(argumentText),
    }),
    options: sortedFields(command.options.map((option) => [option.flags, optionText(option)])),
  }
  const inner = command.commands.flatMap((child) => commandsIn(child, [...words, child.name()]))
  // A group of commands has nothing of its own.
  const isGroup = words.length > 0 && inner.length > 0 && command.options.length === 0
  return isGroup ? inner : [[words.join(' ') || command.name(), own], ...inner]
}

function argumentText(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`
  const choices = argument.argChoices === undefined ? '' : `: ${argument.argChoices.join(', ')}`
  return (argument.required ? `<${name}>` : `[${name}]`) + choices
}

function optionText({ mandatory, hidden, negate, argChoices, defaultValue }: Option): string {
  const says = [
    mandatory && 'must be given',
    hidden && 'not shown',
    argChoices !== undefined && `one of ${argChoices.join(', ')}`,
    !negate && defaultValue !== undefined && `default ${JSON.stringify(defaultValue)}`,
  ]
  return says.filter((one) => typeof one === 'string').join('; ')
}
