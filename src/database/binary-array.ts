/** One element: text is sent as UTF-8, bytes as they are. */
export type Element = string | Uint8Array | null

/** The element types that we send, with their fixed object ids (PostgreSQL's `pg_type.dat`). */
const objectIds = { boolean: 16, bytea: 17, text: 25, json: 114, uuid: 2950 } as const
export type ElementType = keyof typeof objectIds

const headerLength = 20
const lengthLength = 4

/**
 * An array as one parameter, in PostgreSQL's binary format (`array_recv`): the server takes the
 * elements as they are, whereas an array written as text must be quoted here and unquoted there. A
 * uuid is its 16 bytes, a boolean one byte: 0 or 1.
 */
export function binaryArray(type: ElementType, elements: readonly Element[]): Buffer {
  let length = headerLength
  for (const element of elements) length += lengthLength + byteLength(element)
  const array = Buffer.allocUnsafe(length)
  writeHeader(array, objectIds[type], elements.length)
  let at = headerLength
  for (const element of elements) at = writeElement(array, element, at)
  return array
}

function writeHeader(array: Buffer, type: number, count: number): void {
  const dimensions = 1
  const mayHoldNulls = 1
  const lowerBound = 1
  array.writeInt32BE(dimensions, 0)
  array.writeInt32BE(mayHoldNulls, 4)
  array.writeInt32BE(type, 8)
  array.writeInt32BE(count, 12)
  array.writeInt32BE(lowerBound, 16)
}

function byteLength(element: Element): number {
  if (element === null) return 0
  return typeof element === 'string' ? Buffer.byteLength(element) : element.byteLength
}

/** Its length, then its bytes; returns where the next one begins. */
function writeElement(array: Buffer, element: Element, at: number): number {
  const start = at + lengthLength
  if (element === null) {
    array.writeInt32BE(-1, at)
    return start
  }
  let written = element.length
  if (typeof element === 'string') written = array.write(element, start)
  else array.set(element, start)
  array.writeInt32BE(written, at)
  return start + written
}

/** The 16 bytes of a UUID written canonically. */
export function uuidBytes(uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}
