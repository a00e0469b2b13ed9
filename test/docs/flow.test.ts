import assert from 'node:assert/strict'
import test from 'node:test'
import { read } from '../tidy/source-files.ts'
import { arrowsOf } from './diagrams.ts'
import { codeBlocks } from './markdown.ts'

const path = 'docs/1-concepts.md'

/** What the pipeline calls, and where the diagram has it. */
const steps = [
  ['verify(', 'verify'],
  ['.store(', 'store'],
  ['.acknowledge(', 'gateway'],
] as const

test(`${path} draws the steps of a request in the order in which receive takes them`, () => {
  const [, source = ''] = read('src/intake/receive.ts').split('export async function receive(')
  const places = steps.map(([call]) => source.indexOf(call))
  assert.ok(places.every((place) => place > 0))
  assert.deepEqual(
    places,
    places.toSorted((one, other) => one - other),
  )
  const diagram = codeBlocks({ path, text: read(path) }).find((one) => one.language === 'mermaid')
  const drawn = diagram === undefined ? [] : arrowsOf(diagram)
  const ways = new Set(drawn.map(({ from, to }) => `${from} ${to}`))
  const nodes = ['gateway', ...steps.map(([, node]) => node)]
  for (const [at, node] of nodes.slice(1).entries()) {
    assert.ok(ways.has(`${nodes[at]} ${node}`), `no arrow from ${nodes[at]} to ${node}`)
  }
})
