import assert from 'node:assert/strict'
import test from 'node:test'
import type { Command } from 'commander'
import { variableNames } from '../../src/cli/env.ts'
import { createProgram } from '../../src/cli/run.ts'
import { eventTypes } from '../../src/events/catalogue.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { filesIn, read } from './source-files.ts'

/** Cells of every row of the Markdown tables in a text, code marks taken off the first. */
function tableRows(markdown: string): readonly (readonly string[])[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s|:-]+\|$/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
}

/** Names that the first column of a section's table lists in code marks. */
function namesIn(markdown: string): readonly string[] {
  return tableRows(markdown).flatMap(([first = '']) =>
    [...first.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  )
}

function section(markdown: string, heading: string): string {
  const [, rest] = markdown.split(`\n## ${heading}\n`)
  assert.ok(rest !== undefined, `no section ${heading}`)
  return rest.split('\n## ')[0] ?? ''
}

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
  const listed = namesIn(section(read('docs/configuration.md'), 'Variables'))
  assert.deepEqual([...listed].sort(), [...environment].sort())
})

test('.env.example lists every variable that is read, and no other', () => {
  const listed = read('.env.example')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split('=')[0] ?? '')
  assert.deepEqual([...listed].sort(), [...environment].sort())
})

test('docs/events.md lists every event, in the order of the catalogue', () => {
  assert.deepEqual(namesIn(read('docs/events.md').split('\n## ')[0] ?? ''), [...eventTypes])
})

test('the README names only variables that are read', () => {
  const listed = namesIn(section(read('README.md'), 'Configuration'))
  assert.deepEqual(
    listed.filter((name) => !environment.includes(name)),
    [],
  )
})

test('the README lists every gateway as what it is', () => {
  const rows = tableRows(section(read('README.md'), 'Gateways')).slice(1)
  const works = rows.filter(([, , , , state]) => state === 'works')
  const shown = works.map(([, name = '', aliases = '']) => ({
    name: name.replaceAll('`', ''),
    aliases: [...aliases.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  }))
  assert.deepEqual(
    shown,
    builtin.map(({ name, aliases }) => ({ name, aliases: [...aliases] })),
  )
})

test('the README lists every command, and no other', () => {
  const listed = namesIn(section(read('README.md'), 'Commands')).map(
    (text) => text.split(' ')[0] ?? '',
  )
  const groups = new Set(['show', 'list', 'replay', 'forget'])
  const names = listed.filter((name) => !groups.has(name))
  const commands = createProgram().commands.map((command) => command.name())
  assert.deepEqual(names, commands)
})

test('every command shown in the documentation exists, with its options', () => {
  const texts = [...filesIn('docs', /\.md$/).map(({ text }) => text), read('README.md')]
  const lines = texts.flatMap((text) => [
    ...text.matchAll(/^(?:npm run quittance -- |quittance )(.+)$/gm),
  ])
  assert.ok(lines.length > 5)
  for (const [, line = ''] of lines) {
    assert.doesNotThrow(() => findCommand(createProgram(), line.split(' ')), line)
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
  const texts = filesIn('docs', /\.md$/).map(({ text }) => text)
  texts.push(read('README.md'), read('CONTRIBUTING.md'))
  const shown = texts.flatMap((text) => [...text.matchAll(/\bnpm run ([a-z:]+)/g)])
  assert.deepEqual(
    shown.map(([, name = '']) => name).filter((name) => !(name in scripts)),
    [],
  )
})

test('links between documents lead somewhere', () => {
  const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']
  for (const path of documents) {
    for (const [, target = ''] of read(path).matchAll(/\]\(([^)#:]+)\)/g)) {
      assert.doesNotThrow(() => read(target), `${path} links to ${target}`)
    }
  }
})
