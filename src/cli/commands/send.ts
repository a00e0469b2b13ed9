import { InvalidArgumentError, type Command } from 'commander'
import { print, printJson } from '../output.ts'

export interface SendOptions {
  readonly scenario?: string
  readonly payment?: string
  readonly amount?: bigint
  readonly currency?: string
  readonly url?: string
  readonly list?: boolean
  readonly json?: boolean
}

export function addSend(program: Command): void {
  program
    .command('send')
    .description('sign a realistic callback and post it to the real route')
    .argument('<gateway>', 'name or alias')
    .option('--scenario <name>', 'what the callback says (default: the first of --list)')
    .option('--payment <id>', 'payment it is about (default: the newest unpaid one)')
    .option('--amount <units>', 'state this amount instead of the payment’s', readAmount)
    .option('--currency <code>', 'state this currency instead of the payment’s')
    .option('--url <url>', 'post to this URL (default: the gateway’s callback URL)')
    .option('--list', 'show the scenarios and send nothing')
    .action(send)
}

function readAmount(text: string): bigint {
  if (/^\d{1,16}$/.test(text)) return BigInt(text)
  throw new InvalidArgumentError('It must be a whole number of minor units.')
}

async function send(gateway: string, _options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<SendOptions>()
  const { listScenarios, sendCallback } = await import('../send-callback.ts')
  if (options.list === true) {
    const scenarios = await listScenarios(gateway)
    if (options.json === true) printJson(scenarios)
    else for (const [name, text] of Object.entries(scenarios)) print(`${name.padEnd(24)}  ${text}`)
    return
  }
  const sent = await sendCallback(gateway, options)
  if (options.json === true) printJson(sent)
  else {
    print(`POST ${sent.url}`)
    print(`${sent.scenario} for payment ${sent.payment_id}`)
    print(`${sent.status} ${sent.answer}`)
  }
  if (sent.status >= 300) process.exitCode = 1
}
