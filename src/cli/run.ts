import { Command, CommanderError, Help } from 'commander'
import { isQuittanceError } from '../kernel/errors.ts'
import { addBackfill } from './commands/backfill.ts'
import { addCalls } from './commands/calls.ts'
import { addDoctor } from './commands/doctor.ts'
import { addGateways } from './commands/gateways.ts'
import { addListeners } from './commands/listeners.ts'
import { addMigrate } from './commands/migrate.ts'
import { addPayments } from './commands/payments.ts'
import { addPoll } from './commands/poll.ts'
import { addPrune } from './commands/prune.ts'
import { addReconcile } from './commands/reconcile.ts'
import { addRefund } from './commands/refund.ts'
import { addRegisterWebhooks } from './commands/register-webhook.ts'
import { addSend } from './commands/send.ts'
import { addServe } from './commands/serve.ts'
import { addWork } from './commands/work.ts'
import { describeError, oneLine } from './describe-error.ts'
import { addExamples, exampleGateway } from './examples.ts'
import { terminalWidth } from './output.ts'
import { version } from './version.ts'

const exitCodes = { ok: 0, failed: 1, usage: 2 } as const

const prefix = 'billing:'

/** Runs one command and sets the exit code: 0 ok, 1 failed, 2 usage. */
export async function run(args: readonly string[]): Promise<void> {
  // `quittance calls list | head` closes our output early: that is not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(exitCodes.ok)
    throw error
  })
  try {
    await createProgram().parseAsync(withoutPrefix(args), { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    report(error, args.includes('--verbose'))
  }
}

/** All commands. Help and usage errors throw instead of ending the process. */
export function createProgram(): Command {
  const program = new Command('quittance')
    .description('Payment webhook intake: each callback verified, stored, queued and processed.')
    .version(version)
    .option('--json', 'print JSON')
    .option('--verbose', 'show the stack of an error')
    .exitOverride()
    .configureOutput({
      // `report` prints errors; the only other output is the help if a command is missing.
      outputError: () => {},
      getOutHelpWidth: () => Math.min(process.stdout.columns ?? terminalWidth, terminalWidth),
    })
    .configureHelp({ showGlobalOptions: true, subcommandTerm: withoutSecondName })
    .showSuggestionAfterError(true)
    .addHelpText(
      'after',
      '\nEvery command also answers to the prefix billing:, e.g. billing:prune.',
    )
  addExamples(program, [
    ['serve', 'take and process callbacks'],
    [`send ${exampleGateway}`, 'settle the sample payment'],
    ['doctor', 'when something does not work'],
    ['payments create --help', 'how one command is used'],
  ])
  const add = [
    addServe,
    addWork,
    addMigrate,
    addPrune,
    addReconcile,
    addBackfill,
    addRegisterWebhooks,
    addPayments,
    addRefund,
    addPoll,
    addCalls,
    addListeners,
    addGateways,
    addSend,
    addDoctor,
  ]
  for (const addCommand of add) addCommand(program)
  return program
}

/** A second name would widen the column for all commands. */
function withoutSecondName(command: Command): string {
  return new Help().subcommandTerm(command).replace(/\|\S+/, '')
}

function withoutPrefix(args: readonly string[]): readonly string[] {
  const index = args.findIndex((argument) => !argument.startsWith('-'))
  return args.map((argument, at) =>
    at === index && argument.startsWith(prefix) ? argument.slice(prefix.length) : argument,
  )
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage
  return isQuittanceError(error) && error.code === 'usage' ? exitCodes.usage : exitCodes.failed
}

function report(error: unknown, verbose: boolean): void {
  if (error instanceof CommanderError) {
    // Help and version have been printed already.
    if (error.exitCode === 0 || error.code === 'commander.help') return
    const message = oneLine(error.message.replace(/^error: /, ''))
    process.stderr.write(`quittance: ${message} — Run the command with --help.\n`)
    return
  }
  process.stderr.write(`quittance: ${describeError(error)}\n`)
  if (verbose && error instanceof Error) process.stderr.write(`${error.stack ?? ''}\n`)
}
