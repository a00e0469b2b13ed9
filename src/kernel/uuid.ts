const canonicalUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Only the canonical spelling, as all of ours have it: no braces, no `urn:`, no white space, no capitals. */
export function isUuid(text: unknown): text is string {
  return typeof text === 'string' && text.length === 36 && canonicalUuid.test(text)
}

/** The canonical spelling of a UUID in small or capital letters; undefined for what is none. */
export function readUuid(text: unknown): string | undefined {
  const canonical = typeof text === 'string' && text.length === 36 ? text.toLowerCase() : undefined
  return isUuid(canonical) ? canonical : undefined
}

/** What is looked up by an id, in its canonical spelling; undefined for what is none. */
export function withUuid<Found>(text: unknown, find: (id: string) => Found): Found | undefined {
  const id = readUuid(text)
  return id === undefined ? undefined : find(id)
}
