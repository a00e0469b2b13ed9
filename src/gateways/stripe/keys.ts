import type { Secret } from '../../kernel/secret.ts'

const livePrefix = /^(?:sk|rk)_live_/
const testPrefix = /^(?:sk|rk)_test_/

/** Whether an API key reaches live or test data; undefined if its beginning does not show that. */
function isLive(key: Secret): boolean | undefined {
  const text = key.reveal()
  return livePrefix.test(text) ? true : testPrefix.test(text) ? false : undefined
}

/**
 * The mode on which all keys agree; null if they disagree or do not show it, or if there is none.
 */
export function modeOfKeys(keys: readonly Secret[]): boolean | null {
  const [mode, ...others] = keys.map(isLive)
  return mode === undefined || others.some((other) => other !== mode) ? null : mode
}

/** The first key that can reach an object of this mode. */
export function keyForMode(keys: readonly Secret[], live: boolean | undefined): Secret | undefined {
  return keys.find((key) => live === undefined || (isLive(key) ?? live) === live)
}
