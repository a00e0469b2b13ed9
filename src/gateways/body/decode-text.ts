export type TextResult =
  | { readonly ok: true; readonly text: string; readonly hadByteOrderMark: boolean }
  | { readonly ok: false; readonly reason: 'invalid_utf8' | 'nul_character' }

const byteOrderMark = '\ufeff'

// `ignoreBOM: true` leaves the mark in the text: we strip it ourselves, and remember it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Strict UTF-8; other encodings are never guessed. Strips one byte order mark. Never throws. */
export function decodeText(bytes: Uint8Array): TextResult {
  const decoded = decode(bytes)
  if (decoded === undefined) return { ok: false, reason: 'invalid_utf8' }
  // PostgreSQL cannot store it in a text, and neither JSON nor a form has a raw one.
  if (decoded.includes('\0')) return { ok: false, reason: 'nul_character' }
  const hadByteOrderMark = decoded.startsWith(byteOrderMark)
  return { ok: true, text: hadByteOrderMark ? decoded.slice(1) : decoded, hadByteOrderMark }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}
