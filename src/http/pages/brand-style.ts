import { papers } from './style.ts'

/** The least contrast of a text, and of the edge of something to press: WCAG 2.2, 1.4.3, 1.4.11. */
const readable = 4.5
const discernible = 3

/**
 * The style that gives the main button a brand's colour: its text is white, or black where white
 * could not be read; where the button itself would be lost on the page, it keeps our edge.
 */
export function brandStyle(brandColor: string): string {
  const color = `#${brandColor.replace('#', '').toLowerCase()}`
  const text = contrast(color, '#fff') >= readable ? '#fff' : '#000'
  const edgeOn = (paper: string) => (contrast(color, paper) >= discernible ? color : 'var(--edge)')
  return `
:root { --brand: ${color}; --go: ${color}; --on-go: ${text}; --go-edge: ${edgeOn(papers.light)} }
@media (prefers-color-scheme: dark) { :root { --go-edge: ${edgeOn(papers.dark)} } }
`
}

/** Of two colours of three or six hexadecimal digits, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

/** https://www.w3.org/TR/WCAG22/#dfn-relative-luminance */
function luminance(color: string): number {
  const digits = color.replace('#', '')
  const pairs = digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(pairs.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
