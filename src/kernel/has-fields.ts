/**
 * Whether a value is an object whose content is in its fields. A promise, a map or a `FormData` has
 * none: read as an object, it would be an empty one. The instance of a class is one by its fields.
 */
export function hasFields(value: unknown): value is object {
  return Object.prototype.toString.call(value) === '[object Object]'
}
