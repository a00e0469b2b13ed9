/** What stands at the foot of a document's page, line by line: `Total €50.00`. */
export function sumsOf(page: string): readonly string[] {
  const [, sums = ''] = /<dl class="sums">(.*?)<\/dl>/s.exec(page) ?? []
  const lines = sums.matchAll(/<dt>([^<]*)<\/dt>\s*<dd>([^<]*)<\/dd>/g)
  return [...lines].map(([, label, money]) => `${label} ${money}`)
}
