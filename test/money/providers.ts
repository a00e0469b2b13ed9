import { builtin } from '../../src/gateways/builtin.ts'
import type { Misbehaviour, ProviderStandIn } from '../providers/provider-stand-in.ts'

type Start = () => Promise<ProviderStandIn>

/** It asks nobody, so that there is nobody to stand in for. */
export const askingNobody = 'fake'

/** A stand-in of every provider that is asked: `startAcme` of `test/providers/acme.ts`. */
export const providers: readonly (readonly [string, Start])[] = builtin
  .filter(({ poll, name }) => poll !== undefined && name !== askingNobody)
  .map(({ name }) => [name, () => startStandIn(name)])

/**
 * Loaded when it is started: where a module awaits at its top, the runner counts the tests of the
 * files that import it as tests of another file.
 */
async function startStandIn(name: string): Promise<ProviderStandIn> {
  const file = (await import(`../providers/${name}.ts`)) as Readonly<Record<string, Start>>
  const start = file[`start${name.charAt(0).toUpperCase()}${name.slice(1)}`]
  if (start === undefined) throw new Error(`test/providers/${name}.ts does not start`)
  return start()
}

type Mishap = readonly [Misbehaviour, 'done' | 'not done']

/**
 * How a request can go wrong, and whether the provider has done what it was asked for. What is cut is
 * as silent as what is never answered, and what is lost as undone as where the provider is down: to
 * see each of them once is enough.
 */
export function mishapsOf(name: string): readonly Mishap[] {
  return [
    ['never', 'done'],
    ['garbled', 'done'],
    ['down', 'not done'],
    ...(name === 'stripe'
      ? ([
          ['cut', 'done'],
          ['lost', 'not done'],
        ] as const)
      : []),
  ]
}
