import type { Command } from 'commander'
import { builtinSummaries } from '../gateways/builtin-summaries.ts'
import { terminalWidth } from './output.ts'

/** A gateway whose examples work at once: one that needs no credentials. */
export const exampleGateway =
  builtinSummaries.find(({ verification }) => verification === 'none')?.name ?? 'NAME'

/** A command line without the program’s name, and what it is for. */
export type Example = readonly [line: string, meaning?: string]

/** Shown at the end of the help, ready to copy. */
export function addExamples(command: Command, examples: readonly Example[]): void {
  const shown = examples.map(([line, meaning]) => [`  $ quittance ${line}`, meaning] as const)
  const widest = Math.max(...shown.map(([line]) => line.length))
  const lines = shown.flatMap(([line, meaning]) =>
    meaning === undefined ? folded(line) : [`${line.padEnd(widest)}  # ${meaning}`],
  )
  const heading = examples.length === 1 ? 'Example' : 'Examples'
  command.addHelpText('after', `\n${heading}:\n${lines.join('\n')}`)
}

/** A long command continues after a backslash, before one of its options. */
function folded(line: string): readonly string[] {
  if (line.length <= terminalWidth) return [line]
  const at = line.lastIndexOf(' --', terminalWidth - 2)
  return [`${line.slice(0, at)} \\`, ...folded(`     ${line.slice(at)}`)]
}
