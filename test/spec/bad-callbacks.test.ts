import { after, before } from 'node:test'
import { postgres } from '../support/databases.ts'
import { declareBadContent } from './bad-content.ts'
import { declareBadFields } from './bad-fields.ts'
import { declareBadHeaders } from './bad-headers.ts'
import { declareBadInput } from './bad-input.ts'
import { declareBadMoney } from './bad-money.ts'
import { openService, type Service } from './callback-service.ts'
import { declareWhoseMoney } from './whose-money.ts'

// Callbacks of all gateways that must not be taken, or not be applied, against the whole service:
// one for all of them, as to open it costs more than a hundred callbacks.

let service: Service
before(async () => {
  service = await openService(postgres)
})
after(() => service[Symbol.asyncDispose]())

for (const declare of [
  declareBadInput,
  declareBadHeaders,
  declareBadFields,
  declareBadContent,
  declareWhoseMoney,
  declareBadMoney,
]) {
  declare(() => service)
}
