import { timingSafeEqual } from 'node:crypto'

/** Compares bytes in a time that does not tell where they differ; false for other lengths. */
export function constantTimeEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}
