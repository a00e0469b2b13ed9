/** The schema that the statements in the code name, and the default of the setting. */
export const defaultSchema = 'billing'

/** The PostgreSQL schema that holds all tables. */
export interface Schema {
  readonly name: string
  /** A statement of the code, for this schema. A listener's statement is never passed here. */
  readonly textOf: (statement: string) => string
  /** A channel of notifications; each schema has its own. */
  readonly channel: (name: string) => string
}

/** A prepared statement and a channel have the name behind theirs, in the 63 bytes of an identifier. */
const longestName = 30

/** What a schema may be called; undefined: the name is fine. */
export function schemaNameFault(name: string): string | undefined {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || name.length > longestName || name.startsWith('pg_')) {
    return (
      `must be 1 to ${longestName} small letters, digits and underscores, ` +
      'not begin with a digit, and not begin with pg_'
    )
  }
  // The tables of others are there.
  if (name === 'public' || name === 'information_schema') return `must not be ${name}`
  return undefined
}

export function schemaOf(name: string): Schema {
  if (name === defaultSchema) {
    return { name, textOf: (statement) => statement, channel: (channel) => channel }
  }
  return {
    name,
    textOf: (statement) => partsOf(statement).join(name),
    channel: (channel) => `${channel}_${name}`,
  }
}

/** How the code names the schema, and a statement that a connection prepares. */
const mention =
  /\/\* quittance:([a-z-]+) \*\/|\bschema billing\b|'billing'|"billing"|\bbilling(?=\.)/g

/** What is around the name of the schema in a statement. */
function split(statement: string): readonly string[] {
  const mark = '\0'
  const marked = statement.replace(mention, (found, prepared?: string) => {
    if (prepared !== undefined) return `/* quittance:${prepared}@${mark} */`
    if (found.startsWith('schema')) return `schema "${mark}"`
    return found.startsWith("'") ? `'"${mark}"'` : `"${mark}"`
  })
  return marked.split(mark)
}

/** All schemas share the parts; the product has fewer statements than these, and lists make more. */
const parts = new Map<string, readonly string[]>()
const mostStatements = 1_000
const longestStatement = 10_000

function partsOf(statement: string): readonly string[] {
  const known = parts.get(statement)
  if (known !== undefined) return known
  const made = split(statement)
  if (statement.length > longestStatement) return made
  if (parts.size === mostStatements) parts.clear()
  parts.set(statement, made)
  return made
}
