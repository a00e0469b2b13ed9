import { InvalidArgumentError } from 'commander'

/** The value of an option that takes a JSON object. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new InvalidArgumentError('It must be a JSON object.')
  }
}
