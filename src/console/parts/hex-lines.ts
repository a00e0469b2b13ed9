import { maskCardNumbers } from '../../intake/mask-card-data.ts'

const perLine = 16

/**
 * The first bytes, sixteen a line: where they are, each in hex, and as ASCII. Card numbers are masked in
 * both.
 */
export function hexLines(bytes: Uint8Array, most: number): string {
  const shown = masked(bytes).subarray(0, most)
  const lines: string[] = []
  for (let at = 0; at < shown.byteLength; at += perLine) {
    const row = shown.subarray(at, at + perLine)
    const hex = Array.from(row, (byte) => byte.toString(16).padStart(2, '0')).join(' ')
    const text = Array.from(row, (byte) =>
      byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.',
    ).join('')
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(perLine * 3 - 1)}  ${text}`)
  }
  return lines.join('\n')
}

/** In latin1 each byte is a character, so what is not masked stays as it is. */
function masked(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes).toString('latin1')
  return Buffer.from(maskCardNumbers(text), 'latin1')
}
