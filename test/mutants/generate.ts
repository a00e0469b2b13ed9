/** The small changes that can be made to a file, and the file with switches for some of them. */
import babel, { type NodePath, type SyntaxNode } from '@babel/core'
import { Instrumenter } from '@stryker-mutator/instrumenter'
import { createParser } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/parsers/index.js'
import { print } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/printers/index.js'
import { allMutators } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/mutators/index.js'
import { transformBabel } from '../../node_modules/@stryker-mutator/instrumenter/dist/src/transformers/babel-transformer.js'

/** One change of the code that a test is to notice. */
export interface Mutation {
  readonly file: string
  readonly kind: string
  /** From 1. */
  readonly line: number
  /** The line, by which the change is found again where lines have moved. */
  readonly code: string
  readonly from: string
  readonly to: string
}

/** A change, and how many others can be made before it in its file. */
export interface Found extends Mutation {
  readonly at: number
}

const { types } = babel

/** What may be written instead, wherever it stands in a statement. */
const sqlChanges: readonly (readonly [RegExp, string])[] = [
  [/\band\b/g, 'or'],
  [/\bor\b/g, 'and'],
  [/ <= /g, ' < '],
  [/ < /g, ' <= '],
  [/ >= /g, ' > '],
  [/ > /g, ' >= '],
  [/\bis null\b/g, 'is not null'],
  [/\bis not null\b/g, 'is null'],
  [/\bnot exists\b/g, 'exists'],
  [/\bfor update skip locked\b/g, 'for update'],
  [/\bfor update\b(?! skip)/g, ''],
  [/\bdesc\b/g, 'asc'],
  [/\bleast\(/g, 'greatest('],
  [/\bgreatest\(/g, 'least('],
  [/ \+ /g, ' - '],
  [/ - /g, ' + '],
]

const sqlMutator = {
  name: 'Sql',
  *mutate(path: NodePath): Generator<SyntaxNode> {
    if (!path.isTaggedTemplateExpression()) return
    const { tag, quasi } = path.node
    if (!types.isIdentifier(tag, { name: 'sql' })) return
    for (const [at, part] of quasi.quasis.entries()) {
      for (const text of changedTexts(part.value.raw)) {
        const changed = types.cloneNode(path.node, true)
        const element = changed.quasi.quasis[at]
        if (element !== undefined) element.value = { raw: text, cooked: text }
        yield changed
      }
    }
  },
}

function* changedTexts(text: string): Generator<string> {
  for (const [pattern, replacement] of sqlChanges) {
    for (const found of text.matchAll(pattern)) {
      const end = found.index + found[0].length
      yield text.slice(0, found.index) + replacement + text.slice(end)
    }
  }
}

/** Not those of texts, which are for people. */
const mutators = [...allMutators.filter(({ name }) => name !== 'StringLiteral'), sqlMutator]

const quiet = () => {}
const log = { isDebugEnabled: () => false, debug: quiet, info: quiet, warn: quiet }

const transformWith = transformBabel as unknown as (...input: readonly unknown[]) => void

/** The file with a switch for each change that is wanted by its place among all. */
async function instrument(file: string, content: string, isWanted: (at: number) => boolean) {
  let count = 0
  const wanted = mutators.map(({ name, mutate }) => ({
    name,
    *mutate(path: NodePath): Generator<SyntaxNode> {
      for (const change of mutate(path)) if (isWanted(count++)) yield change
    },
  }))
  const instrumenter = new Instrumenter(
    log as never,
    createParser,
    print,
    (ast, found, context) => {
      transformWith(ast, found, { ...context, transform: quiet }, wanted)
    },
  )
  const options = { plugins: null, ignorers: [], excludedMutations: [], noHeader: true }
  const { files, mutants } = await instrumenter.instrument(
    [{ name: file, content, mutate: true }],
    options,
  )
  return { content: files[0]?.content ?? '', mutants }
}

/** Every change that can be made to this file. */
export async function mutationsOf(file: string, content: string): Promise<readonly Found[]> {
  const lines = content.split('\n')
  const { mutants } = await instrument(file, content, () => true)
  return mutants
    .map(({ mutatorName, replacement, location, statusReason }, at) => ({
      file,
      kind: mutatorName,
      line: location.start.line + 1,
      code: (lines[location.start.line] ?? '').trim(),
      from: textIn(lines, location),
      to: replacement,
      at,
      statusReason,
    }))
    .filter(({ statusReason }) => statusReason === undefined)
    .map(({ statusReason: _none, ...found }) => found)
}

interface Place {
  readonly line: number
  readonly column: number
}

function textIn(
  lines: readonly string[],
  { start, end }: { readonly start: Place; readonly end: Place },
): string {
  const found = lines.slice(start.line, end.line + 1)
  const last = found.length - 1
  found[last] = (found[last] ?? '').slice(0, end.column)
  found[0] = (found[0] ?? '').slice(start.column)
  return found.join('\n')
}

/** The change among those of today: the nearest that reads the same. */
export function placeOf(wanted: Mutation, among: readonly Found[]): Found | undefined {
  const same = among.filter(
    ({ kind, code, from, to }) =>
      kind === wanted.kind && code === wanted.code && from === wanted.from && to === wanted.to,
  )
  const distance = ({ line }: Mutation) => Math.abs(line - wanted.line)
  return same.toSorted((one, other) => distance(one) - distance(other))[0]
}

/**
 * Babel prints a switch around an expression, and TypeScript no longer narrows there. The line goes
 * into the copy that the mutants run in; no file of the project has it.
 */
const header = (from: string) =>
  `// @ts-nocheck\nimport { cover as stryCov_9fa48, isOn as stryMutAct_9fa48 } from ${JSON.stringify(from)}\n`

/** The file with a switch for each of these changes, which `from` turns on by its name. */
export async function withSwitches(
  content: string,
  changes: ReadonlyMap<Found, string>,
  from: string,
): Promise<string> {
  const [first] = changes.keys()
  if (first === undefined) return content
  const byPlace = [...changes].toSorted(([one], [other]) => one.at - other.at)
  const places = new Set(byPlace.map(([{ at }]) => at))
  const made = await instrument(first.file, content, (at) => places.has(at))
  const names = made.mutants.map(({ id }, index) => [id, byPlace[index]?.[1]] as const)
  const nameOf = new Map(names)
  const switched = made.content.replaceAll(
    /stry(?:MutAct|Cov)_9fa48\((?:"\d+"(?:, )?)+\)/g,
    (call) => call.replaceAll(/"(\d+)"/g, (_text, id: string) => JSON.stringify(nameOf.get(id))),
  )
  return header(from) + switched
}
