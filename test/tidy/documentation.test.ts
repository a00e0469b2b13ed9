import assert from 'node:assert/strict'
import test from 'node:test'
import type { Command } from 'commander'
import { settingsIn, variablesOf } from '../../src/billing/setting.ts'
import { optionSettings, variableSettings } from '../../src/billing/settings-schema.ts'
import { variableNames } from '../../src/cli/read-variables.ts'
import { createProgram } from '../../src/cli/run.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { createBilling } from '../../src/index.ts'
import { namesIn, pages, section } from '../docs/markdown.ts'
import { aboutSetting } from '../docs/settings.ts'
import { read } from './source-files.ts'

/** Every variable that the program reads; a gateway's first name for each of its settings. */
const environment = [
  ...variableNames,
  ...builtin.flatMap(({ credentials }) =>
    Object.values(credentials).flatMap(({ env }) => env.slice(0, 1)),
  ),
]

test('docs/configuration.md lists every variable that is read, and no other', () => {
  const listed = namesIn(section(read('docs/configuration.md'), 'Settings'))
  assert.deepEqual([...listed].sort(), [...environment].sort())
})

test('.env.example lists every variable that is read, and no other', () => {
  const listed = read('.env.example')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split('=')[0] ?? '')
  assert.deepEqual([...listed].sort(), [...environment].sort())
})

test('every setting says what it means; no two share a variable', () => {
  for (const place of settingsIn({ ...optionSettings, ...variableSettings })) {
    assert.match(aboutSetting(place.path.join('.')).meaning, /^\S.*\.$/, place.path.join('.'))
  }
  const names = settingsIn(variableSettings).flatMap(variablesOf)
  assert.equal(new Set(names).size, names.length)
})

/** `payments.create` for what lies one level down. */
function membersOf(value: object, prefix = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]: [string, unknown]) => {
    const isGroup = typeof member === 'object' && member !== null && !Array.isArray(member)
    return isGroup ? membersOf(member, `${prefix}${name}.`) : [prefix + name]
  })
}

test('docs/10-library.md lists every member of a billing, and no other', async () => {
  await using billing = createBilling({ database: { memory: true } })
  const listed = namesIn(section(read('docs/10-library.md'), 'A billing'))
  assert.deepEqual(listed.toSorted(), membersOf(billing).toSorted())
})

test('the README names only variables that are read', () => {
  const listed = namesIn(section(read('README.md'), 'Configuration'))
  assert.deepEqual(
    listed.filter((name) => !environment.includes(name)),
    [],
  )
})

test('the README lists every command, and no other', async () => {
  const rows = namesIn(section(read('README.md'), 'Commands'))
  const listed = rows.map((text) => {
    const [name = '', ...rest] = text.split(/,? /)
    return { name, subcommands: rest.filter((word) => /^[a-z]+(?:-[a-z]+)*$/.test(word)) }
  })
  const { commands: known } = await createProgram()
  const commands = known.map((command) => ({
    name: command.name(),
    subcommands: command.commands.map((subcommand) => subcommand.name()),
  }))
  assert.deepEqual(listed, commands)
})

test('every command that the pages name exists, with its options', async () => {
  const program = await createProgram()
  const texts = pages().map(({ text }) => text)
  const lines = texts.flatMap((text) => [
    ...text.matchAll(/`(?:npx )?quittance ([a-z][^`]*)`/g),
    ...text.matchAll(/npm run (?:-s )?quittance -- ([a-z][^`\n]*)/g),
  ])
  assert.ok(lines.length > 30)
  for (const [, line = ''] of lines) {
    assert.doesNotThrow(() => findCommand(program, line.split(' ')), line)
  }
})

/** Follows words into subcommands, then checks that each option exists. */
function findCommand(program: Command, words: readonly string[]): void {
  let command = program
  let rest = words
  for (;;) {
    const next = command.commands.find((candidate) => candidate.name() === rest[0])
    if (next === undefined) break
    command = next
    rest = rest.slice(1)
  }
  assert.notEqual(command, program, `no command ${words[0]}`)
  for (const word of rest.filter((text) => text.startsWith('--'))) {
    const known = [...command.options, ...program.options].map((option) => option.long)
    assert.ok(known.includes(word), `${command.name()} has no ${word}`)
  }
}

test('every npm script that the documentation shows exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const texts = [...pages().map(({ text }) => text), read('CONTRIBUTING.md')]
  const shown = texts.flatMap((text) => [...text.matchAll(/\bnpm run ([a-z][a-z:-]*)/g)])
  assert.deepEqual(
    shown.map(([, name = '']) => name).filter((name) => !(name in scripts)),
    [],
  )
})
