import { importedPath, read } from '../tidy/source-files.ts'

/** The entries of the package that are one file each, and that file. */
export const entries = {
  quittance: 'src/index.ts',
  'quittance/node': 'src/http/node-handler.ts',
  'quittance/prisma': 'src/listeners/prisma.ts',
  'quittance/gateways': 'src/gateways/index.ts',
  'quittance/testing': 'src/testing/index.ts',
} as const

export interface Exported {
  readonly name: string
  readonly kind: 'value' | 'type'
  /** The first sentence of its doc comment, on one line. */
  readonly meaning: string
}

const typeWord = /^(?:type|interface)$/

/** What a file exports, in its order: what it declares itself, and what it passes on. */
export function exportsOf(path: string): readonly Exported[] {
  const text = read(path)
  const found = text.matchAll(
    /^export (?:(type )?\{([^}]*)\} from '([^']*)'|(?:async )?(\w+)\*? (\w+))/gm,
  )
  return Array.from(found).flatMap(([, onlyTypes, names, from = '', word = '', own]) => {
    const isType = onlyTypes !== undefined || typeWord.test(word)
    const kind = isType ? 'type' : 'value'
    const home = own === undefined ? importedPath({ path, text }, from) : path
    const listed = own === undefined ? (names ?? '').split(',') : [own]
    return listed
      .map((name) => name.trim())
      .filter((name) => name !== '')
      .map((name): Exported => ({ name, kind, meaning: meaningOf(name, home ?? path) }))
  })
}

/** A name that the file itself only passes on is looked up further. */
function meaningOf(name: string, path: string): string {
  const text = read(path)
  const declared = new RegExp(
    String.raw`/\*\*((?:(?!\*/)[^])*)\*/\nexport (?:async )?\w+\*? ${name}\b`,
  ).exec(text)
  if (declared !== null) return firstSentence(declared[1] ?? '')
  for (const [, names = '', from = ''] of text.matchAll(
    /(?:im|ex)port (?:type )?\{([^}]*)\} from '(\.[^']*)'/g,
  )) {
    const home = importedPath({ path, text }, from)
    if (home !== undefined && new RegExp(String.raw`\b${name}\b`).test(names)) {
      return meaningOf(name, home)
    }
  }
  return ''
}

function firstSentence(comment: string): string {
  const text = comment
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trim())
    .join(' ')
    .trim()
  const [sentence = ''] = text.split(/(?<=(?<!\be\.g)\.)\s+(?=[A-Z`@])|(?<=:)\s+(?=- )/)
  return sentence.replace(/^- /, '').replace(/:$/, '.').replaceAll('|', '/')
}
