import { Option, type Command } from 'commander'
import { actionFilters, operatorRoles } from '../../wire/operator.ts'
import { addExamples } from '../examples.ts'
import { addFilters } from '../noun.ts'
import { readWithin } from '../read-time.ts'

const actions = () => import('../operator-actions.ts')

/** `operators`: each is named by its name. */
export function addOperators(program: Command): void {
  const operators = program
    .command('operators')
    .description('who may ask the management API with a token of their own, and what they did')
  addAccounts(operators)
  addEnds(operators)
  const actionsCommand = addFilters(
    operators.command('actions').description('what operators did, newest first'),
    actionFilters,
  ).action(async (_options: unknown, command: Command) => {
    await (await actions()).listActions(command)
  })
  addExamples(actionsCommand, [['operators actions --operator olena --limit 5']])
}

function addAccounts(operators: Command): void {
  const listCommand = operators
    .command('list')
    .description('all of them, by name')
    .action(async (_options: unknown, command: Command) => (await actions()).list(command))
  addExamples(listCommand, [['operators list']])
  const addCommand = operators
    .command('add')
    .description('make one; its token is printed this once')
    .argument('<name>')
    .addOption(
      new Option('--role <role>', 'a viewer reads, an operator also acts')
        .choices(operatorRoles)
        .makeOptionMandatory(),
    )
    .option('--expires <length>', 'its token works for so long: 12h, 90d', readWithin)
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).add(name, command)
    })
  addExamples(addCommand, [
    ['operators add olena --role operator'],
    ['operators add audit --role viewer --expires 90d'],
  ])
}

function addEnds(operators: Command): void {
  const removeCommand = operators
    .command('remove')
    .description('its token no longer works, and it is signed out everywhere')
    .argument('<name>')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).remove(name, command)
    })
  addExamples(removeCommand, [['operators remove olena']])
  const signOutCommand = operators
    .command('sign-out')
    .description('sign one out everywhere; its token still works')
    .argument('<name>', 'or api, read: the tokens of the settings')
    .action(async (name: string, _: unknown, command: Command) => {
      await (await actions()).signOut(name, command)
    })
  addExamples(signOutCommand, [['operators sign-out olena']])
}
