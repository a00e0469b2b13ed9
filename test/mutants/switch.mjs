/** Which mutant is on in this tree, and which ones are reached. Instrumented files import it. */
import { appendFileSync, readFileSync } from 'node:fs'

const read = (name) => {
  try {
    return readFileSync(new URL(name, import.meta.url), 'utf8')
  } catch {
    return ''
  }
}

const on = read('mutant-on')
const reached = new Set()

export const isOn = (name) => name === on

export function cover(...names) {
  for (const name of names) {
    if (reached.has(name)) continue
    reached.add(name)
    appendFileSync(new URL('mutants-reached', import.meta.url), `${name}\n`)
  }
}
