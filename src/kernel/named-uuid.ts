import { createHash } from 'node:crypto'

/**
 * The id of what has a name: the same text at the same time is the same id, on every machine and
 * after a restore. Version 8 of RFC 9562: 48 bits of milliseconds, so that it sorts by time like the
 * others, and 74 bits of the text's SHA-256.
 */
export function namedUuid(time: Date, text: string): string {
  const bytes = Buffer.alloc(16)
  bytes.writeBigUInt64BE(BigInt(time.getTime()) << 16n)
  createHash('sha256').update(text).digest().copy(bytes, 6, 0, 10)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(6) & 0x0f), 6)
  bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8)
  return bytes.toString('hex').replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The time in the first 48 bits of an id, in milliseconds. */
export function timeInUuid(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))
}
