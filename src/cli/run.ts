import { Command, CommanderError, Help } from 'commander'
import { isQuittanceError, QuittanceError } from '../kernel/errors.ts'
import { addCommands } from './command-list.ts'
import { describeError, errorView, oneLine } from './describe-error.ts'
import { addExamples, exampleGateway } from './examples.ts'
import { print, terminalWidth } from './output.ts'
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
    // Without a command, the help says which there are.
    const words = args.length === 0 ? ['--help'] : withoutPrefix(args)
    // Behind an option it is not the command yet: `--help` shows all of them.
    const program = await createProgram(words[0])
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = exitCodeOf(error)
    report(error, { json: args.includes('--json'), verbose: args.includes('--verbose') })
  }
}

/**
 * All commands, or the one that is named, which starts sooner. Help and usage errors throw instead of
 * ending the process.
 */
export async function createProgram(name?: string): Promise<Command> {
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
  await addCommands(program, name)
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

/** For people on standard error; for programs where they read the result, in one line. */
function report(
  thrown: unknown,
  { json, verbose }: { readonly json: boolean; readonly verbose: boolean },
): void {
  if (thrown instanceof CommanderError) {
    // Help and version have been printed already.
    if (thrown.exitCode === 0 || (thrown.code === helpShown && !json)) return
  }
  const error = thrown instanceof CommanderError ? usageOf(thrown) : thrown
  if (json) print(JSON.stringify({ error: errorView(error) }))
  else process.stderr.write(`quittance: ${describeError(error)}\n`)
  if (verbose && thrown instanceof Error) process.stderr.write(`${thrown.stack ?? ''}\n`)
}

/** What commander throws where a command is missing. */
const helpShown = 'commander.help'

function usageOf({ code, message }: CommanderError): QuittanceError {
  const text = code === helpShown ? 'a command is missing' : message.replace(/^error: /, '')
  return new QuittanceError('usage', oneLine(text))
}
