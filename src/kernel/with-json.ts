/**
 * Gives a value the form in which it is written as JSON; with a bigint in it, it could not be
 * written at all. What gives it is not enumerable: copies, comparisons and `structuredClone` take
 * the data alone.
 */
export function withJson<Value extends object, Json>(
  value: Value,
  view: (value: Value & { toJSON(): Json }) => Json,
): Value & { toJSON(): Json } {
  const written = value as Value & { toJSON(): Json }
  const toJSON = () => view(written)
  return Object.defineProperty(written, 'toJSON', {
    value: toJSON,
    configurable: true,
    writable: true,
  })
}
