import type { Command } from 'commander'
import { addExamples, exampleGateway } from '../examples.ts'
import { readAmount } from '../read-amount.ts'
import { print, printJson, printTable, visible } from '../output.ts'
import type { SendOptions } from '../send-callback.ts'

export function addSend(program: Command): void {
  const sendCommand = program
    .command('send')
    .description('sign a realistic callback, post it to the real route, and wait for it')
    .argument('<gateway>', 'name or alias')
    .option('--scenario <name>', 'what the callback says (default: the first of --list)')
    .option('--payment <id>', 'payment it is about (default: the newest that fits)')
    .option('--amount <units>', 'state this amount instead of the payment’s', readAmount)
    .option('--currency <code>', 'state this currency instead of the payment’s')
    .option(
      '--url <url>',
      'post to this origin or URL of the service (default: the gateway’s callback URL)',
    )
    .option('--no-wait', 'do not wait until it is processed')
    .option('--yes', 'really do it under NODE_ENV=production')
    .option('--list', 'show the scenarios and send nothing')
    .action(send)
  addExamples(sendCommand, [
    [`send ${exampleGateway} --list`, 'what it can send'],
    [`send ${exampleGateway}`, 'the newest unpaid payment is paid'],
    [`send ${exampleGateway} --scenario failure`, 'it is declined'],
  ])
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
  const { endText } = await import('../follow-call.ts')
  const { describeError, errorView } = await import('../describe-error.ts')
  const { call, fault, ...sent } = await sendCallback(gateway, options)
  if (fault !== undefined) process.exitCode = 1
  if (options.json === true) {
    const { url, scenario, paymentId, status, answer } = sent
    const posted = { url, scenario, payment_id: paymentId, status, answer }
    const followed = { call_id: call?.id ?? null, state: call?.state ?? null }
    const outcome = call?.outcome ?? null
    const error = fault && errorView(fault)
    printJson({ ...posted, ...followed, outcome, error })
    return
  }
  print(`POST ${sent.url}`)
  print(`${sent.scenario} for payment ${sent.paymentId}`)
  print(visible(`${sent.status} ${sent.answer}`))
  if (call !== undefined) print(visible(endText(call)))
  if (fault !== undefined) process.stderr.write(`quittance: ${describeError(fault)}\n`)
}
