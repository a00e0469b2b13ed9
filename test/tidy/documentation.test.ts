import assert from 'node:assert/strict'
import test from 'node:test'
import type { Command } from 'commander'
import { settingsIn, variablesOf } from '../../src/billing/setting.ts'
import {
  fileSettings,
  optionSettings,
  variableSettings,
} from '../../src/billing/settings-schema.ts'
import { variableNames } from '../../src/cli/read-variables.ts'
import { createProgram } from '../../src/cli/run.ts'
import { eventTypes } from '../../src/events/catalogue.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { codeIn, namesIn, pages, section, tableRows } from '../docs/markdown.ts'
import { aboutSetting, configFileOptions, optionsTable, settingsTable } from '../docs/settings.ts'
import { read } from './source-files.ts'

/** Every variable that the program reads; a gateway's first name for each of its settings. */
const environment = [
  ...variableNames,
  ...builtin.flatMap(({ credentials }) =>
    Object.values(credentials).flatMap(({ env }) => env.slice(0, 1)),
  ),
]

test('docs/errors.md lists every error code with its fix, and no other', () => {
  const listed = tableRows(read('docs/errors.md').split('\n## ')[0] ?? '').slice(1)
  const documented = Object.fromEntries(
    listed.map(([code = '', , fix]) => [code.replaceAll('`', ''), fix]),
  )
  assert.deepEqual(documented, { ...errorCatalogue })
})

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

test('docs/configuration.md and the type of quittance.config.ts follow from the settings', () => {
  const tables = tableRows(read('docs/configuration.md'))
  const written = new Set(tables.map((row) => row.join()))
  for (const row of [...settingsTable(), ...optionsTable()]) {
    assert.ok(written.has(row.join()), `npm run tables: ${row.join()}`)
  }
  const keys = tables.flatMap(([, key = '', , preset]) => (preset === undefined ? [] : codeIn(key)))
  assert.equal(keys.length, settingsIn(fileSettings).length)
  assert.equal(read('src/billing/config-file-options.ts'), configFileOptions())
})

test('every setting says what it means; no two share a variable', () => {
  for (const place of settingsIn({ ...optionSettings, ...variableSettings })) {
    assert.match(aboutSetting(place.path.join('.')).meaning, /^\S.*\.$/, place.path.join('.'))
  }
  const names = settingsIn(variableSettings).flatMap(variablesOf)
  assert.equal(new Set(names).size, names.length)
})

test('docs/events.md lists every event, in the order of the catalogue', () => {
  const [, table = ''] = read('docs/events.md').split('It also carries:')
  assert.deepEqual(namesIn(table.split('\n## ')[0] ?? ''), [...eventTypes])
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
  const shown = texts.flatMap((text) => [...text.matchAll(/\bnpm run ([a-z:]+)/g)])
  assert.deepEqual(
    shown.map(([, name = '']) => name).filter((name) => !(name in scripts)),
    [],
  )
})
