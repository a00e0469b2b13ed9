import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/run.ts'
import { leaves } from './leaves.ts'

async function helpOf(words: readonly string[], only?: string): Promise<readonly string[]> {
  let shown = ''
  let command: Command | undefined = await createProgram(only)
  for (const word of words) command = command?.commands.find((child) => child.name() === word)
  assert.ok(command !== undefined)
  command.configureOutput({ ...command.configureOutput(), writeOut: (text) => (shown += text) })
  command.outputHelp()
  return shown.trimEnd().split('\n')
}

/** Parses a command line and does nothing. */
async function parse(args: readonly string[]): Promise<readonly string[]> {
  const program = await createProgram()
  let parsed: readonly string[] | undefined
  for (const { command, words } of leaves(program)) {
    command.action(() => {
      parsed = words
    })
  }
  await program.parseAsync(args, { from: 'user' })
  assert.ok(parsed !== undefined)
  return parsed
}

/** The words of a command line, as a shell takes them apart: single quotes hold one together. */
function typed(line: string): readonly string[] {
  const words = line.match(/(?:'[^']*'|[^ '])+/g) ?? []
  for (const word of words) assert.ok(/^'.*'$/.test(word) || !/[{}"$*]/.test(word), word)
  return words.map((word) => word.replaceAll("'", ''))
}

const commands = leaves(await createProgram()).map(({ words }) => words)

describe('the help shows examples that can be typed as they are:', () => {
  assert.ok(commands.length > 10)
  for (const words of commands) {
    test(words.join(' '), async () => {
      const lines = (await helpOf(words))
        .join('\n')
        .replaceAll(/ \\\n +/g, ' ')
        .split('\n')
      const examples = lines.flatMap((line) => {
        const [, example] = /^ {2}\$ quittance (.*?)(?: +#.*)?$/.exec(line) ?? []
        return example === undefined ? [] : [example]
      })
      assert.ok(examples.length > 0, 'no example')
      for (const example of examples) {
        assert.deepEqual(await parse(typed(example)), words, example)
      }
    })
  }
})

test('no line of any help is wider than 80 columns', async () => {
  const groups = new Set(commands.map(([first = '']) => first))
  for (const words of [[], ...Array.from(groups, (first) => [first]), ...commands]) {
    const wide = (await helpOf(words)).filter((line) => line.length > 80)
    assert.deepEqual(wide, [], words.join(' '))
  }
})

test('every command and option says what it is for', async () => {
  for (const { command, words } of leaves(await createProgram())) {
    assert.ok(command.description() !== '', words.join(' '))
    for (const { long, description } of command.options) {
      assert.ok(description !== '', `${words.join(' ')} ${long ?? ''}`)
    }
  }
})

test('a command that is loaded alone is the same as among all', async () => {
  const { commands: all } = await createProgram()
  for (const name of all.map((command) => command.name())) {
    const { commands: loaded } = await createProgram(name)
    // Those that register webhooks are named after gateways: they come with all others.
    const expected = name.endsWith('-register-webhook') ? all.length : 1
    assert.equal(loaded.length, expected, name)
    assert.deepEqual(await helpOf([name], name), await helpOf([name]))
  }
})
