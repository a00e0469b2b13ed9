/** What a golden file holds. */
export type Structure = string | readonly Structure[] | { readonly [name: string]: Structure }

type Fields = Readonly<Record<string, unknown>>

/** What is masked, and the word for it; the first that fits. */
const masks: readonly (readonly [RegExp, string])[] = [
  [/^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/, 'id'],
  [/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, 'time'],
  [/^\d{4}-\d\d-\d\d$/, 'day'],
  [/^https?:\/\//, 'url'],
]

/** Whether one is set often depends on when it is read; that it may be null, the document says. */
const moment = /_(?:at|since)$/

const word = /^[A-Za-z][\w:]*$/

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** In one order, whatever order they come in. */
export function sortedFields(
  fields: Iterable<readonly [string, Structure]>,
): Readonly<Record<string, Structure>> {
  return Object.fromEntries([...fields].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/**
 * The structure that these values have in common: of objects their fields (`?`: not in each of them),
 * of lists their elements, of all else the kinds. Words stay in those fields that are named.
 */
export function shapeOf(
  values: readonly unknown[],
  fieldsOfWords: ReadonlySet<string>,
  field = '',
): Structure {
  const objects = values.filter(isFields)
  const lists = values.filter((value): value is readonly unknown[] => Array.isArray(value))
  const others = values.filter((value) => !isFields(value) && !Array.isArray(value))
  const isWord = fieldsOfWords.has(field)
  const kinds = new Set(others.map((value) => kindIn(field, kindOf(value, isWord))))
  const parts: Structure[] = []
  if (objects.length > 0) parts.push(fieldsIn(objects, fieldsOfWords))
  if (lists.length > 0) {
    const elements = lists.flat()
    parts.push(elements.length === 0 ? [] : [shapeOf(elements, fieldsOfWords, field)])
  }
  if (kinds.size > 0) parts.push([...kinds].toSorted().join(' | '))
  const [first = '', second] = parts
  return second === undefined ? first : { 'one of': parts }
}

function fieldsIn(objects: readonly Fields[], fieldsOfWords: ReadonlySet<string>): Structure {
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))]
  return sortedFields(
    names.map((name) => {
      const having = objects.filter((one) => name in one)
      const values = having.map((one) => one[name])
      const shown = having.length < objects.length ? `${name}?` : name
      return [shown, shapeOf(values, fieldsOfWords, name)]
    }),
  )
}

function kindIn(field: string, kind: string): string {
  const isMoment = moment.test(field) && (kind === 'time' || kind === 'null')
  return isMoment ? 'time or null' : kind
}

function kindOf(value: unknown, isWord: boolean): string {
  if (typeof value !== 'string') return value === null ? 'null' : typeof value
  const [, mask] = masks.find(([pattern]) => pattern.test(value)) ?? []
  return mask ?? (isWord && word.test(value) ? `"${value}"` : 'text')
}
