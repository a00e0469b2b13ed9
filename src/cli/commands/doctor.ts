import type { Command } from 'commander'
import type { Finding, FindingState } from '../doctor/finding.ts'
import { addExamples } from '../examples.ts'
import { counted } from '../../kernel/counted.ts'
import { print, printJson, styled, visible, wrapped } from '../output.ts'

export function addDoctor(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('say what is wrong, and how to fix it')
    .action(run)
  addExamples(doctor, [
    ['doctor', 'exit code 1 if there is an error'],
    ['doctor --json', 'for monitoring'],
  ])
}

async function run(_options: unknown, command: Command): Promise<void> {
  const { diagnose } = await import('../doctor/diagnose.ts')
  const findings = await diagnose()
  const errors = findings.filter(({ state }) => state === 'error').length
  const warnings = findings.filter(({ state }) => state === 'warning').length
  if (errors > 0) process.exitCode = 1
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson({ ok: errors === 0, errors, warnings, findings })
    return
  }
  for (const finding of findings) if (finding.state !== 'skipped') printFinding(finding)
  for (const finding of skippedTogether(findings)) printFinding(finding)
  print()
  print(errors + warnings === 0 ? 'All is well.' : summary(errors, warnings))
}

/** One line for all that were skipped for the same reason. */
function skippedTogether(findings: readonly Finding[]): readonly Finding[] {
  const byReason = Map.groupBy(
    findings.filter(({ state }) => state === 'skipped'),
    ({ found }) => found,
  )
  return Array.from(byReason, ([reason, together]) => {
    const [first] = together
    const rest = together.slice(1).map(({ check }) => check)
    const also = rest.length === 0 ? '' : ` (also ${rest.join(', ')})`
    return { check: first?.check ?? '', state: 'skipped', found: `${reason}${also}`, fix: null }
  })
}

const colours = {
  ok: 'green',
  warning: 'yellow',
  error: 'red',
  skipped: 'dim',
} as const satisfies Record<FindingState, Parameters<typeof styled>[0]>
const stateWidth = 'warning'.length
const checkWidth = 'subscriptions'.length
const indent = ' '.repeat(stateWidth + checkWidth + 4)

function printFinding({ state, check, found, fix }: Finding): void {
  const [first = '', ...rest] = wrapped(visible(found), indent.length)
  const mark = styled(colours[state], state.padEnd(stateWidth))
  print(`${mark}  ${check.padEnd(checkWidth)}  ${first}`)
  for (const line of rest) print(indent + line)
  if (fix === null) return
  for (const line of wrapped(`fix: ${fix}`, indent.length)) print(styled('bold', indent + line))
}

function summary(errors: number, warnings: number): string {
  const some = (count: number, word: string) => (count === 0 ? [] : [counted(count, word)])
  return `${[...some(errors, 'error'), ...some(warnings, 'warning')].join(', ')}.`
}
