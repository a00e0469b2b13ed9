import assert from 'node:assert/strict'
import test from 'node:test'
import { productFiles, read, withoutComments, type SourceFile } from '../tidy/source-files.ts'
import { codeIn, tableRows } from './markdown.ts'

/** A line of the log by its level and its text, with `...` for what the program puts in. */
type Line = readonly [level: string, text: string]

const literal = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g
const call = /\blog\.(warn|error|fatal)\(/g

const ofCredentials = ['... of gateway ... is shorter than ... characters']
const ofSettings = ['the option ... is called ...', ...ofCredentials]

/** Texts that are handed to the log as values: what they say is written elsewhere. */
const handedOver: Readonly<Record<string, readonly string[]>> = {
  'src/create-billing.ts': ofSettings,
  'src/cli/describe-gateways.ts': ofCredentials,
  'src/cli/open-core.ts': ofCredentials,
  'src/cli/open-service.ts': ofSettings,
  'src/database/embedded/open-embedded.ts': [
    'the data folder ... was open to other users; its mode is 0700 now',
    'a transaction was idle for more than ... ms; it was rolled back and its connection closed',
  ],
}

function linesOf({ path, text }: SourceFile): readonly Line[] {
  const code = withoutComments(text)
  return Array.from(code.matchAll(call)).flatMap(({ 1: level = '', index, 0: begin }) => {
    const given = argumentsOf(code, index + begin.length)
    const texts = given.texts.length > 0 ? given.texts : textsOf(code, given.last)
    const said = texts.length > 0 ? texts : (handedOver[path] ?? [])
    assert.ok(
      said.length > 0,
      `${path}: log.${level}(... ${given.last}) says nothing that is known`,
    )
    return said.map((one): Line => [level, one])
  })
}

/** The texts among the arguments themselves, not within them, and the name that stands last. */
function argumentsOf(code: string, from: number) {
  const tokens = new RegExp(`${literal.source}|[()[\\]{}]`, 'g')
  tokens.lastIndex = from
  const texts: string[] = []
  let depth = 1
  for (let found = tokens.exec(code); found !== null; found = tokens.exec(code)) {
    const [token] = found
    if (/^[([{]$/.test(token)) depth += 1
    else if (/^[)\]}]$/.test(token)) depth -= 1
    else if (depth === 1) texts.push(...plain(token, code.slice(tokens.lastIndex)))
    if (depth === 0) break
  }
  const [, last = ''] = /(\w+)(?:\[\w+\])?\)$/.exec(code.slice(from, tokens.lastIndex)) ?? []
  return { texts, last }
}

function plain(token: string, behind: string): readonly string[] {
  const text = token.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '...')
  return [/^\s*\+/.test(behind) ? `${text}...` : text]
}

/** The texts of a constant: one, or those of an object. */
function textsOf(code: string, name: string): readonly string[] {
  const [, value = ''] =
    new RegExp(`const ${name} =\\s*(${literal.source}|\\{[^}]*\\})`).exec(code) ?? []
  return Array.from(value.matchAll(literal)).flatMap(([token]) => plain(token, ''))
}

function listed(): readonly Line[] {
  return tableRows(read('docs/log.md'))
    .filter(([first]) => first !== 'Line')
    .map(([text = '', level = '']): Line => [codeIn(level)[0] ?? '', codeIn(text)[0] ?? ''])
}

/** `checkout ...` of the program is `checkout refused` to a reader. */
function isSame([level, text]: Line, [shownLevel, shown]: Line): boolean {
  const parts = text.split('...').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return level === shownLevel && new RegExp(`^${parts.join('.+')}$`).test(shown)
}

test('docs/log.md lists every line above info that the program can log, and no other', () => {
  const logged = productFiles().flatMap(linesOf)
  const shown = listed()
  assert.ok(logged.length > 50)
  const missing = logged.filter((line) => !shown.some((one) => isSame(line, one)))
  assert.deepEqual(missing, [], 'not in docs/log.md')
  const strange = shown.filter((one) => !logged.some((line) => isSame(line, one)))
  assert.deepEqual(strange, [], 'logged by nobody')
  assert.equal(new Set(shown.map(String)).size, shown.length, 'listed twice')
})
