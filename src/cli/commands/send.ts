import { InvalidArgumentError, type Command } from 'commander'
import { addExamples, exampleGateway } from '../examples.ts'
import { print, printJson, printTable, visible } from '../output.ts'

export interface SendOptions {
  readonly scenario?: string
  readonly payment?: string
  readonly amount?: bigint
  readonly currency?: string
  readonly url?: string
  readonly list?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

export function addSend(program: Command): void {
  const sendCommand = program
    .command('send')
    .description('sign a realistic callback and post it to the real route')
    .argument('<gateway>', 'name or alias')
    .option('--scenario <name>', 'what the callback says (default: the first of --list)')
    .option('--payment <id>', 'payment it is about (default: the newest unpaid one)')
    .option('--amount <units>', 'state this amount instead of the payment’s', readAmount)
    .option('--currency <code>', 'state this currency instead of the payment’s')
    .option('--url <url>', 'post to this URL of the service (default: the gateway’s callback URL)')
    .option('--yes', 'really do it under NODE_ENV=production')
    .option('--list', 'show the scenarios and send nothing')
    .action(send)
  addExamples(sendCommand, [
    [`send ${exampleGateway} --list`, 'what it can send'],
    [`send ${exampleGateway}`, 'the newest unpaid payment is paid'],
    [`send ${exampleGateway} --scenario failure`, 'it is declined'],
  ])
}

function readAmount(text: string): bigint {
  if (/^\d{1,16}$/.test(text)) return BigInt(text)
  throw new InvalidArgumentError('It must be a whole number of minor units.')
}

async function send(gateway: string, _options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<SendOptions>()
  if (options.list === true) {
    const { listScenarios } = await import('../list-scenarios.ts')
    const scenarios = await listScenarios(gateway)
    if (options.json === true) printJson(scenarios)
    else printTable({ headings: ['scenario', 'shows that'], rows: Object.entries(scenarios) })
    return
  }
  const { sendCallback } = await import('../send-callback.ts')
  const sent = await sendCallback(gateway, options)
  if (options.json === true) printJson(sent)
  else {
    print(`POST ${sent.url}`)
    print(`${sent.scenario} for payment ${sent.payment_id}`)
    print(visible(`${sent.status} ${sent.answer}`))
  }
  if (sent.status < 300) return
  process.exitCode = 1
  process.stderr.write(`quittance: not accepted: ${sent.status} — ${fixFor(sent.status)}\n`)
}

const fixes: Readonly<Record<number, string>> = {
  403: 'Give the service and this command the same secrets; the service’s log says what it missed.',
  404: 'Correct --url, APP_URL or BILLING_WEBHOOK_PATH: no route of Quittance is there.',
  405: 'Correct --url: it must be the callback URL that `quittance gateways` shows.',
  422: 'Correct the named field.',
  502: 'Start the service behind the proxy or tunnel.',
  503: 'Run `quittance doctor`: the service has no database, or too much to do.',
}

function fixFor(status: number): string {
  return fixes[status] ?? 'See the log of the service, or run: quittance doctor'
}
