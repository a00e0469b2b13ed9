import { timingSafeEqual } from 'node:crypto'

/** Compares bytes in a time that does not reveal where they differ; false for different lengths. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
