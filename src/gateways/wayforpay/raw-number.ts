interface RawJson {
  rawJSON(text: string): unknown
}

/**
 * A number that goes into a JSON text exactly as it is written here. WayForPay signs the literal,
 * and no amount may pass through a float on its way.
 */
export function rawNumber(text: string): unknown {
  // A part of ECMAScript that the compiler's library does not list yet.
  return (JSON as typeof JSON & RawJson).rawJSON(text)
}
