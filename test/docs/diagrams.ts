import assert from 'node:assert/strict'
import { codeBlocks, section, type CodeBlock } from './markdown.ts'

export interface Arrow {
  readonly from: string
  readonly to: string
  readonly label: string
}

/** Text without what ends a label for Mermaid. */
const label = String.raw`[\w ,.'/:-]+?`
const shape = String.raw`(?:\(\[${label}\]\)|\[\(${label}\)\]|\[${label}\]|\{${label}\})?`

/** What the pages use of Mermaid: how a line of each kind of diagram may look. */
const lines: Readonly<Record<string, RegExp>> = {
  'flowchart LR': new RegExp(
    String.raw`^(?<from>\w+)${shape}(?: -- (?<label>${label}))? --> (?<to>\w+)${shape}$`,
  ),
  'stateDiagram-v2': new RegExp(
    String.raw`^(?<from>\w+|\[\*\]) --> (?<to>\w+)(?:: (?<label>${label}))?$`,
  ),
  sequenceDiagram: new RegExp(
    String.raw`^(?:participant \w+|(?<from>\w+)--?>>(?<to>\w+): (?<label>${label}))$`,
  ),
}

/** The arrows of a diagram, in its order; every line must be one that Mermaid reads. */
export function arrowsOf({ path, code }: CodeBlock): readonly Arrow[] {
  const [kind = '', ...body] = code.trimEnd().split('\n')
  const pattern = lines[kind]
  assert.ok(pattern !== undefined, `${path}: no kind of diagram: ${kind}`)
  return body.flatMap((line) => {
    const found = pattern.exec(line.trim())
    assert.ok(found !== null, `${path}: not in a ${kind}: ${line}`)
    const { from, to, label: said = '' } = found.groups ?? {}
    return from === undefined || to === undefined ? [] : [{ from, to, label: said }]
  })
}

/** The arrows between two states in the diagram under a heading; where it begins, `from` is `[*]`. */
export function statesUnder(path: string, text: string, heading: string): readonly Arrow[] {
  const blocks = codeBlocks({ path, text: section(text, heading) })
  const diagram = blocks.find(({ language }) => language === 'mermaid')
  assert.ok(diagram !== undefined, `${path}: no diagram under ${heading}`)
  return arrowsOf(diagram)
}
