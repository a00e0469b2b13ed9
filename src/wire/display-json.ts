interface SourceTextAccess {
  parse(
    text: string,
    reviver: (key: string, value: unknown, at: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}

// In the language since ES2026 and in every Node that we run on, ahead of TypeScript's library.
const exactJson = JSON as unknown as SourceTextAccess

/**
 * A stored JSON text as a value to show. A number that a double would change (`10.50`, `1e400`)
 * keeps its spelling when the value is written as JSON again; what cannot be read stays text.
 */
export function displayJson(text: string): unknown {
  try {
    return exactJson.parse(text, (_key, value, { source }) =>
      typeof value === 'number' && source !== undefined && source !== String(value)
        ? exactJson.rawJSON(source)
        : value,
    )
  } catch {
    return text
  }
}
