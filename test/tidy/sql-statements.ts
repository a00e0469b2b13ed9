import { importedPath, withoutComments, type SourceFile } from './source-files.ts'

/** A statement, or a part of one, with all that is inserted into it. */
export interface SqlStatement {
  readonly path: string
  readonly text: string
}

/** A declaration at the top of a file, up to the next one. */
interface Declaration {
  readonly file: SourceFile
  readonly name: string
  readonly code: string
}

/**
 * The statements of these files: every SQL template together with the parts that it inserts, as far
 * as they are declared and not passed in; and what a declaration builds by calls of Kysely.
 */
export function statementsIn(files: readonly SourceFile[]): readonly SqlStatement[] {
  const declared = new Map(files.map((file) => [file.path, declarationsIn(file)]))
  return [...declared.values()].flat().flatMap((declaration) => {
    const scope = { declaration, declared, within: [] }
    const written = templatesIn(declaration.code).map((template) => withParts(template, scope))
    const tables = tablesOfBuilders(declaration.code)
    const built = tables.length === 0 ? [] : [[...tables, ...written].join('\n')]
    return [...built, ...written].map((text) => ({ path: declaration.file.path, text }))
  })
}

function declarationsIn(file: SourceFile): readonly Declaration[] {
  const parts = withoutComments(file.text).split(
    /^(?=(?:export )?(?:default )?(?:async )?(?:const|function\*?) \w)/m,
  )
  return parts.flatMap((code) => {
    const name = /^(?:export )?(?:default )?(?:async )?(?:const|function\*?) (\w+)/.exec(code)?.[1]
    return name === undefined ? [] : [{ file, name, code }]
  })
}

/** In the same file, or in the one that it is imported from under this name. */
function findDeclaration(
  name: string,
  file: SourceFile,
  declared: ReadonlyMap<string, readonly Declaration[]>,
): Declaration | undefined {
  const imports = file.text.matchAll(/^import \{([^}]*)\} from '(\.[^']+)'/gm)
  const from = [...imports].find(([, names = '']) => new RegExp(`\\b${name}\\b`).test(names))?.[2]
  const path = from === undefined ? file.path : importedPath(file, from)
  return declared.get(path ?? '')?.find((one) => one.name === name)
}

interface Template {
  /** What is written, between what is inserted. */
  readonly written: readonly string[]
  /** The code between `${` and `}`. */
  readonly inserted: readonly string[]
  /** The name that it is given within its declaration. */
  readonly name: string | undefined
  /** Where it is in the code. */
  readonly from: number
  readonly to: number
}

/** Templates that may hold SQL; those within another one are part of it. */
function templatesIn(code: string): readonly Template[] {
  const found: Template[] = []
  const start =
    /(?:\b(?:const|let) (\w+)[^=\n]*=\s*)?(?:\bsql(?:<[^`]*?>)?|[=(,:?[]\s*|return\s+)`/g
  for (let match = start.exec(code); match !== null; match = start.exec(code)) {
    const template = readTemplate(code, start.lastIndex)
    found.push({ ...template, name: match[1] })
    start.lastIndex = template.to + 1
  }
  return found
}

/** From behind the opening backtick to the closing one. */
function readTemplate(code: string, from: number): Omit<Template, 'name'> {
  const written: string[] = []
  const inserted: string[] = []
  let begun = from
  let at = from
  while (at < code.length && code[at] !== '`') {
    if (code.startsWith('${', at)) {
      const end = endOfInserted(code, at + 2)
      written.push(code.slice(begun, at))
      inserted.push(code.slice(at + 2, end))
      begun = end + 1
      at = end
    }
    at += code[at] === '\\' ? 2 : 1
  }
  return { written: [...written, code.slice(begun, at)], inserted, from, to: at }
}

function endOfInserted(code: string, from: number): number {
  let depth = 1
  let at = from
  for (; at < code.length; at += 1) {
    if (code[at] === '`') at = readTemplate(code, at + 1).to
    else if (code[at] === '{') depth += 1
    else if (code[at] === '}' && --depth === 0) return at
  }
  return at
}

interface Scope {
  readonly declaration: Declaration
  readonly declared: ReadonlyMap<string, readonly Declaration[]>
  /** The names by which one came here. */
  readonly within: readonly string[]
}

function withParts({ written, inserted }: Template, scope: Scope): string {
  return written.map((text, at) => text + partsIn(inserted[at], scope)).join('')
}

/** The SQL in inserted code; a parameter, if there is none. */
function partsIn(code: string | undefined, scope: Scope): string {
  if (code === undefined) return ''
  if (/^name(?:d|Comment)\(/.test(code)) return mark
  const direct = templatesIn(`=${code}`)
  const outside = direct.reduceRight(
    (rest, { from, to }) => rest.slice(0, from) + rest.slice(to),
    `=${code}`,
  )
  const names = new Set(outside.match(/\b[a-zA-Z]\w*/g))
  const parts = direct.map((template) => withParts(template, scope))
  for (const name of names) parts.push(...partsNamed(name, scope))
  return parts.length === 0 ? '$' : parts.join(' ')
}

function partsNamed(name: string, scope: Scope): readonly string[] {
  if (scope.within.includes(name)) return []
  const within = [...scope.within, name]
  const here = templatesIn(scope.declaration.code).filter((one) => one.name === name)
  const there = findDeclaration(name, scope.declaration.file, scope.declared)
  return [
    ...here.map((template) => withParts(template, { ...scope, within })),
    ...(there === undefined ? [] : templatesIn(there.code)).map((template) =>
      withParts(template, { ...scope, declaration: there ?? scope.declaration, within }),
    ),
  ]
}

function tablesOfBuilders(code: string): readonly string[] {
  const calls =
    /\.(?:selectFrom|updateTable|insertInto|deleteFrom|mergeInto|using|\w*Join)\(\s*'([^']+)'/g
  return [...code.matchAll(calls)].map(([, table = '']) => table)
}

const calls = /\bbilling\.webhook_calls\b/
const paymentSide =
  /\bbilling\.(?:payments|payment_transitions|payment_methods|disputes|events|deliveries|deferred_events)\b/

/** As every statement begins that has a name. */
const mark = '/* quittance:'

/** Whether it is prepared under a name. */
export function isNamed({ text }: SqlStatement): boolean {
  return text.trimStart().startsWith(mark)
}

const allColumns =
  /(?:\b(?:select|returning)\b(?:\s+distinct\b)?|,)\s*(?:\w+\.)?\*(?!\s*from unnest\()/

/** Whether it may return what a later version adds to a table. */
export function returnsAllColumns({ text }: SqlStatement): boolean {
  return allColumns.test(text)
}

/** Whether it needs calls and payments in one database. */
export function joinsCallsWithPayments({ text }: SqlStatement): boolean {
  return calls.test(text) && paymentSide.test(text)
}

/** Whether a subquery asks for each element of an array. */
export function asksForEachElement({ text }: SqlStatement): boolean {
  const names = [...text.matchAll(/unnest\((?:[^()]|\([^()]*\))*\)[^()]{0,30}?\bas (\w+)/g)]
  const aliases = ['unnest', ...names.map(([, name = '']) => name)]
  return subqueriesIn(text).some((subquery) => {
    const isOf = (alias: string) =>
      new RegExp(`\\b${alias}\\.`).test(subquery) &&
      !new RegExp(`\\b(?:from|join|as)\\s+${alias}\\b`).test(subquery)
    return aliases.some(isOf) || /\bfrom unnest\(\s*[a-z]/.test(subquery)
  })
}

/** What stands in parentheses and begins with `select`, but for tables and named parts. */
function subqueriesIn(text: string): readonly string[] {
  const found: string[] = []
  for (const match of text.matchAll(/\(\s*select\b/g)) {
    const before = text.slice(0, match.index)
    if (/\b(?:as|materialized|from|join)\s*$/.test(before)) continue
    found.push(text.slice(match.index, endOfGroup(text, match.index)))
  }
  return found
}

function endOfGroup(text: string, from: number): number {
  let depth = 0
  for (let at = from; at < text.length; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')' && --depth === 0) return at
  }
  return text.length
}
