/**
 * Whether a value is an object whose content is in its fields. A promise, a map or a `FormData` has
 * none: read as an object, it would be an empty one. The instance of a class is one by its fields,
 * a module by its exports.
 */
export function hasFields(value: unknown): value is object {
  return ['[object Object]', '[object Module]'].includes(Object.prototype.toString.call(value))
}
