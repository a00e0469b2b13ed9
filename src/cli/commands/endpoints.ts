import { InvalidArgumentError, Option, type Command } from 'commander'
import { attemptFilters, endpointPayloads } from '../../events/endpoint.ts'
import { addExamples } from '../examples.ts'
import { addFilters } from '../noun.ts'
import { readTypes } from '../read-types.ts'
import { readSince } from '../read-time.ts'

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

const actions = () => import('../endpoint-actions.ts')

/** `endpoints`: each is named by its name or its id. */
export function addEndpoints(program: Command): void {
  const endpoints = program
    .command('endpoints')
    .description('where events are sent to, as signed requests')
  addReads(endpoints)
  addChanges(endpoints)
  addSwitches(endpoints)
  addSending(endpoints)
}

function addReads(endpoints: Command): void {
  const listCommand = endpoints
    .command('list')
    .description('all of them, by name')
    .action(async (_options: unknown, command: Command) => (await actions()).list(command))
  addExamples(listCommand, [['endpoints list']])
  const showCommand = endpoints
    .command('show')
    .description('one: where it is, and how it stands')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).show(name, command)
    })
  addExamples(showCommand, [['endpoints show shop']])
  const attemptsCommand = addFilters(
    endpoints
      .command('attempts')
      .description('the requests to one, newest first')
      .argument('<name>'),
    attemptFilters,
  ).action(async (name: string, _: unknown, command: Command) => {
    await (await actions()).attempts(name, command)
  })
  addExamples(attemptsCommand, [['endpoints attempts shop --limit 5']])
}

function addChanges(endpoints: Command): void {
  const createCommand = addFields(
    endpoints
      .command('create')
      .description('make one; its secret is printed this once')
      .argument('<name>')
      .requiredOption('--url <url>', 'where its requests go'),
  ).action(async (name: string, _: unknown, command: Command) => {
    await (await actions()).create(name, command)
  })
  addExamples(createCommand, [
    ['endpoints create shop --url https://shop.example/hooks'],
    ['endpoints create crm --url https://crm.example/in --type PaymentSucceeded --payload thin'],
  ])
  const updateCommand = addFields(
    endpoints
      .command('update')
      .description('change one; what is not given stays')
      .argument('<name>')
      .option('--name <name>', 'what it is called from now on')
      .option('--url <url>', 'where its requests go'),
  ).action(async (name: string, _: unknown, command: Command) => {
    await (await actions()).update(name, command)
  })
  addExamples(updateCommand, [['endpoints update shop --url https://shop.example/new-hooks']])
  const deleteCommand = endpoints
    .command('delete')
    .description('delete one; what it was sent is pruned later')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).remove(name, command)
    })
  addExamples(deleteCommand, [['endpoints delete shop']])
  const rotateCommand = endpoints
    .command('rotate-secret')
    .description('a new secret, printed this once; for 24 hours the old one signs as well')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).rotateSecret(name, command)
    })
  addExamples(rotateCommand, [['endpoints rotate-secret shop']])
}

/** What may be said of one when it is made, and later. */
function addFields(command: Command): Command {
  return command
    .option('--description <text>', 'what it is for')
    .option('--type <names>', 'only these events, separated by commas', readTypes)
    .option('--gateway <names>', 'only about these gateways, separated by commas', readNames)
    .addOption(
      new Option('--payload <payload>', 'the whole event, or which one it is').choices(
        endpointPayloads,
      ),
    )
    .option('--max-concurrency <count>', 'requests at the same time, 1 to 64', readNumber)
    .option('--rate-per-second <count>', 'requests in a second, 1 to 1000', readNumber)
    .option('--timeout-seconds <count>', 'how long one may take, 1 to 60', readNumber)
}

function readNames(text: string): readonly string[] {
  return text.split(',')
}

/** How much it may be is said by the library. */
function readNumber(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number.')
}

function addSwitches(endpoints: Command): void {
  const enableCommand = endpoints
    .command('enable')
    .description('send again, all that it has missed')
    .argument('<name>')
    .addOption(new Option('--from <place>', 'not what it has missed').choices(['end']))
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).enable(name, command)
    })
  addExamples(enableCommand, [['endpoints enable shop'], ['endpoints enable shop --from end']])
  const disableCommand = endpoints
    .command('disable')
    .description('send nothing; its place stays')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).disable(name, command)
    })
  addExamples(disableCommand, [['endpoints disable shop']])
}

function addSending(endpoints: Command): void {
  const replayCommand = endpoints
    .command('replay')
    .description('send again what it has had, under the same ids: --after or --since')
    .argument('<name>')
    .option('--after <cursor>', 'what is behind this event; start: all')
    .option('--since <time>', 'from then on: 90m, 24h, 7d, or a time', readSince)
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).replay(name, command)
    })
  addExamples(replayCommand, [
    ['endpoints replay shop --since 24h'],
    [`endpoints replay shop --after ${exampleId}`],
  ])
  const resendCommand = endpoints
    .command('resend')
    .description('send one event again')
    .argument('<name>')
    .argument('<event>', 'its id')
    .action(async (name: string, event: string) => {
      await (await actions()).resend({ name, event }, resendCommand)
    })
  addExamples(resendCommand, [[`endpoints resend shop ${exampleId}`]])
  const testCommand = endpoints
    .command('test')
    .description('send a signed EndpointTest, which is no event; say what came back')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).test(name, command)
    })
  addExamples(testCommand, [['endpoints test shop']])
}
