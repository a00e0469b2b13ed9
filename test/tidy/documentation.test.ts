import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { Command } from 'commander'
import { loadConfigFile } from '../../src/cli/config-file.ts'
import { variableNames } from '../../src/cli/env.ts'
import { createProgram } from '../../src/cli/run.ts'
import { eventTypes } from '../../src/events/catalogue.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { errorCatalogue } from '../../src/kernel/errors.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { namesIn, pages, section, tableRows } from '../docs/markdown.ts'
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

/** The keys of the schema of quittance.config.ts, read from its source: `database.url`. */
function configKeys(): readonly string[] {
  const [, source = ''] = read('src/cli/config-file.ts').split('const schema = z.strictObject({')
  const [body = ''] = source.split('\n})\n')
  const keys: string[] = []
  const groups: string[] = []
  const tokens = body.matchAll(/(\w+): (?=[a-z])|strictObject\(\{|\(\{|\}\)/g)
  let last = ''
  for (const [token, key] of tokens) {
    if (key !== undefined) {
      if (groups.at(-1) !== '') keys.push([...groups, key].join('.'))
      last = key
    } else if (token === '})') groups.pop()
    // The options of a check, such as `z.url({ ... })`, have no keys of ours.
    else groups.push(token === '({' ? '' : last)
  }
  // A group of keys is no setting itself.
  return keys.filter((key) => !keys.some((other) => other.startsWith(`${key}.`)))
}

test('docs/configuration.md lists every key of quittance.config.ts, and no other', () => {
  const listed = namesIn(section(read('docs/configuration.md'), 'quittance.config.ts')).map((key) =>
    key.replace(/\.<.*$/, ''),
  )
  assert.deepEqual([...listed].sort(), [...configKeys()].sort())
})

test('every key that docs/configuration.md lists is taken, and one beside them is not', async () => {
  const listed = namesIn(section(read('docs/configuration.md'), 'quittance.config.ts'))
  using folder = temporaryFolder()
  const load = (key: string, value: string) => {
    const nested = key.split('.').reduceRight((inner, part) => `{ ${part}: ${inner} }`, value)
    const own = join(folder.path, key)
    mkdirSync(own)
    writeFileSync(join(own, 'quittance.config.mjs'), `export default ${nested}`)
    return loadConfigFile(own)
  }
  for (const key of listed.filter((name) => !name.includes('<'))) {
    // A value of the wrong kind is refused for that, and not for its key.
    const refusal = await load(key, 'Symbol()').then(String, String)
    assert.doesNotMatch(refusal, /[Uu]nrecognized key/, key)
  }
  for (const key of ['nonsense', 'database.nonsense', 'webhook.nonsense', 'billing.nonsense']) {
    await assert.rejects(load(key, '1'), /[Uu]nrecognized key.*nonsense/)
  }
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

test('the README lists every command, and no other', () => {
  const rows = namesIn(section(read('README.md'), 'Commands'))
  const listed = rows.map((text) => {
    const [name = '', ...rest] = text.split(/,? /)
    return { name, subcommands: rest.filter((word) => /^[a-z]+$/.test(word)) }
  })
  const commands = createProgram().commands.map((command) => ({
    name: command.name(),
    subcommands: command.commands.map((subcommand) => subcommand.name()),
  }))
  assert.deepEqual(listed, commands)
})

test('every command that the pages name exists, with its options', () => {
  const texts = pages().map(({ text }) => text)
  const lines = texts.flatMap((text) => [
    ...text.matchAll(/`(?:npx )?quittance ([a-z][^`]*)`/g),
    ...text.matchAll(/npm run (?:-s )?quittance -- ([a-z][^`\n]*)/g),
  ])
  assert.ok(lines.length > 30)
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
  const texts = [...pages().map(({ text }) => text), read('CONTRIBUTING.md')]
  const shown = texts.flatMap((text) => [...text.matchAll(/\bnpm run ([a-z:]+)/g)])
  assert.deepEqual(
    shown.map(([, name = '']) => name).filter((name) => !(name in scripts)),
    [],
  )
})
