import fc, { type StringConstraints } from 'fast-check'

const character = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint))

/** Well-formed text of any characters. The unit `binary` first makes a table of all 1.1 million. */
export function anyText(length: Pick<StringConstraints, 'maxLength'> = {}): fc.Arbitrary<string> {
  return fc.string({ unit: character, ...length })
}
