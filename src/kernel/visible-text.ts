/** Control, format (zero-width, direction) and line separator characters, lone surrogates. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu
const piledMarks = /(\p{M}{3})\p{M}+/gu
const usualLength = 200

/**
 * Foreign text that is safe to show to a person: what would hide or reorder its neighbours is
 * spelled out as `\u{202e}`; piles of accents and endless texts are cut.
 */
export function visibleText(text: string, longest = usualLength): string {
  const plain = wholeText(text)
  if (plain.length <= longest) return plain
  // A cut in the middle of a surrogate pair would leave half a character.
  return `${plain.slice(0, longest).replace(/\p{Cs}$/u, '')}…`
}

/** The same, as long as it is: its length was limited when it was taken. */
export function wholeText(text: string): string {
  return text
    .replace(piledMarks, '$1…')
    .replace(invisible, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
